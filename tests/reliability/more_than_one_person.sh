# Once: what the sign-in needs, your OpenID provider, and who has which role
.venv/bin/pip install Authlib==1.9.9 httpx==0.28.1
cp assets/deploy/secrets.example.toml .streamlit/secrets.toml
cp assets/deploy/roles.example.toml $AUDIT_HOME/roles.toml
.venv/bin/streamlit run app.py
# An administrator, where AUDIT_HOME is: who is here, an audit for somebody to read, what was done
.venv/bin/python -m core people
.venv/bin/python -m core share AUDIT ada@example.org
.venv/bin/python -m core token new --for ada@example.org --label nightly --days 30
.venv/bin/python -m core trail --json
# Somebody else's commands, with a token of theirs: audits, reports, tables are as on the pages
export AUDIT_TOKEN=TOKEN
.venv/bin/python -m core audit --graph karate --attack common_neighbors --hide-links --out audit/
