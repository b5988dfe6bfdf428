"""Styles that the theme file cannot set."""

from __future__ import annotations

import streamlit as st

from core.findings.palette import RISK_SCALE, Theme

_STYLE = """
<style>
.block-container {max-width: 1240px; padding-top: 2.6rem; padding-bottom: 4rem;}
[data-testid="stSidebarHeader"] {padding-bottom: .25rem;}
[data-testid="stMetricValue"] {font-size: 1.35rem; font-variant-numeric: tabular-nums;}
[data-testid="stMetricLabel"] {opacity: .75;}
[data-testid="stCaptionContainer"] p {line-height: 1.45;}
.st-key-answer {border-left: 3px solid color-mix(in srgb, currentColor 28%, transparent);
  padding: .1rem 0 .1rem .9rem;}
.st-key-answer p {font-size: 1.08rem; line-height: 1.5;}
.st-key-question p {opacity: .8;}
.st-key-answer p + p {margin-top: .4rem;}
[data-testid="stMultiSelect"] [role="group"]:has(> [data-testid="stMultiSelectTagsContainer"])
  {height: auto; max-height: none;}
[data-testid="stMultiSelectTagsContainer"] {flex-wrap: wrap; overflow: visible; height: auto;
  max-height: none; mask-image: none; padding-block: .25rem; min-width: 0; flex: 1 1 0;}
[data-testid="stMultiSelectTagsContainer"] [data-tag] {max-width: 100%; height: auto;}
[data-testid="stMultiSelectTagsContainer"] [data-tag] :is(span, div)
  {white-space: normal; overflow: visible;}
.st-key-node-panel h2 {font-size: 1.15rem;}
:is(.st-key-releases-table, [class*="st-key-limits-"]) :is(td, th) {padding: .35rem .45rem;
  font-size: .84rem; line-height: 1.35; overflow-wrap: anywhere; min-width: 0;}
iframe {border: 0;}
.limit-bar {position: relative; height: 12px; border-radius: 3px; overflow: hidden;
  background: color-mix(in srgb, currentColor 12%, transparent);}
.limit-bar span {position: absolute; inset: 0 auto 0 0; background: #6b7f95;}
.limit-bar span.exceeded {background: #c4504b;} .limit-bar span.met {background: #3f8f6b;}
.limit-bar span.not_proven {background: #b98521;}
.limit-bar i {position: absolute; top: 0; bottom: 0; width: 2px;
  background: currentColor;}
.score-bar {position: relative; height: 18px; border-radius: 4px;
  background: color-mix(in srgb, currentColor 12%, transparent);}
.score-bar span {position: absolute; inset: 0 auto 0 0; border-radius: 4px 0 0 4px;
  background: FILL;}
.score-bar u {position: absolute; top: 8px; height: 2px; background: currentColor;}
.score-bar i {position: absolute; top: -3px; bottom: -3px; width: 3px; background: currentColor;}
.score-bar b {position: absolute; top: 4px; width: 10px; height: 10px; margin-left: -5px;
  border-radius: 50%; border: 2px solid currentColor;}
.st-key-releases-table td:first-child {overflow-wrap: break-word;}
[data-testid="stMetricDelta"] {white-space: normal;}
:has(> [data-testid="stMetricDelta"]) {flex-wrap: wrap; row-gap: .2rem;}
:is([data-testid="stFileUploaderDropzone"], [data-testid="stCheckbox"])
  :is(span, .stMarkdownEllipsis, .stMarkdownEllipsis p) {white-space: normal; overflow: visible;}
@media (max-width: 1180px) {
  .block-container {padding-left: 2.2rem; padding-right: 2.2rem;}
  .st-key-releases-table :is(td, th) {padding: .3rem .2rem; font-size: .75rem;}
  [class*="st-key-wide"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    {flex-wrap: wrap; row-gap: 1rem;}
  [class*="st-key-wide"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"]
    > [data-testid="stColumn"] {flex: 1 1 100%; min-width: 100%;}
}
</style>
"""
_CAPTIONS = """<style>
[data-testid='stCaptionContainer'], [data-testid='stCaptionContainer'] p
{opacity: 1; color: COLOR;}
</style>"""
_ON_PRIMARY = """<style>
[data-testid='stBaseButton-primary']:not(:disabled),
[data-testid='stBaseButton-primary']:not(:disabled) *,
[data-testid='stMultiSelectTagsContainer'] [data-tag],
[data-testid='stMultiSelectTagsContainer'] [data-tag] * {color: #12171d !important;}
</style>"""
_RINGS = """<style>
[data-testid='stRadioOption']:not([data-selected], [data-disabled]) > div > div:first-child
{border-color: COLOR;}
[data-testid='stCheckbox'] > label:not([data-selected], [data-disabled]) > div:first-of-type
{border-color: COLOR;}
</style>"""
_INKS = {
    "light": _CAPTIONS.replace("COLOR", "#56606c") + _RINGS.replace("COLOR", "#7b8794"),
    "dark": _CAPTIONS.replace("COLOR", "#a9b3be")
    + _RINGS.replace("COLOR", "#7f8b99")
    + _ON_PRIMARY,
}
"""Contrast of at least 4.5:1 for captions and text on the primary colour, 3:1 for controls."""


def apply_style() -> None:
    st.html(_STYLE.replace("FILL", RISK_SCALE[3]) + _INKS[current_theme()])


def current_theme() -> Theme:
    return "dark" if st.context.theme.type == "dark" else "light"
