"""The application object, with start and stop. Run with `streamlit run app.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from streamlit import net_util

from core.errors import InputError
from pages.ui import endpoints, preparation, service, sign_in
from pages.ui.own_address import CheckAddress


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    os.umask(0o077)  # files contain personal data
    try:
        sign_in.check_address()
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.stderr.flush()
        os._exit(2)  # nothing is open yet, and a traceback would hide the message
    preparation.start()
    try:
        yield
    finally:
        preparation.end()
        service.close_service()


# Otherwise Streamlit looks up its own addresses with requests to outside servers.
net_util._internal_ip = net_util._external_ip = "127.0.0.1"
app = st.App(
    "pages/ui/app_shell.py",
    lifespan=lifespan,
    routes=endpoints.ROUTES,
    middleware=[Middleware(CheckAddress)],
)
