"""Files that are no table though their name says so: read as one they would give a wrong graph."""

from __future__ import annotations

import re

from core.errors import FormatError

_HEAD = 1 << 12
_STARTS = (
    (rb"%PDF-", "a PDF document", "export the table as CSV"),
    (rb"PK\x03\x04", "a zip archive or a spreadsheet", "export the table as CSV"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "a picture", "export the table as CSV"),
    (rb"SQLite format 3", "a database", "export the table as CSV"),
    (rb"\{\\rtf", "a text document", "save it as plain text"),
    (rb"\s*<(!doctype html|html|head|body)\b", "a web page", "download the file itself"),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<graphml\b", "GraphML", "call it .graphml"),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<gexf\b", "GEXF", "call it .gexf"),
    (rb"\s*<(\?xml|!doctype|svg)\b", "XML", "export the table as CSV"),
    (rb"\s*(creator[^\n]*\s+)?(version[^\n]*\s+)?graph\s*\[", "GML", "call it .gml"),
    (rb"%%MatrixMarket", "a Matrix Market file", "save it with scipy.sparse.save_npz"),
    (rb"\s*\*(vertices|network)\b", "a Pajek file", "convert it to GraphML"),
    (rb"\s*dl\s+n\s*=", "a UCINET file", "convert it to GraphML"),
)
_KNOWN = [(re.compile(start, re.I | re.S), what, remedy) for start, what, remedy in _STARTS]
_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[\s*([\[{\"\]\d-]|$))")


def check_is_table(data: bytes, file: str) -> None:
    """FormatError where the content is known to be something else than rows of text.

    data  the whole content; file  how the message calls it
    """
    head = data[:_HEAD]
    for pattern, what, remedy in _KNOWN:
        if pattern.match(head):
            raise FormatError(file, "must be a table of text", what, remedy)
    line, _, rest = head.lstrip().partition(b"\n")
    is_wrapped = line[:1] in b"{[" and data[-_HEAD:].rstrip()[-1:] in b"}]"
    if _JSON.match(head) and (is_wrapped or not rest.strip() or line.rstrip()[-1:] in b"{[,"):
        raise FormatError(file, "must be a table of text", "JSON", "convert it to CSV")
