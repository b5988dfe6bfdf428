# On every machine: the project's folder with its .venv, AUDIT_HOME on storage that all share
export AUDIT_HOME=/srv/audit AUDIT_DATABASE=postgresql+psycopg://audit@DATABASE/audit
export AUDIT_SCHEDULER=tls://SCHEDULER:8786
export AUDIT_TLS_CA=cert.pem AUDIT_TLS_CERT=cert.pem AUDIT_TLS_KEY=key.pem
# Once: the certificate and key of all of them
openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=audit -keyout key.pem -out cert.pem
# On one machine
.venv/bin/python -m core scheduler --host SCHEDULER --port 8786
# On each that computes, once a core, or with --gpu N once a CUDA device
.venv/bin/python -m core worker tls://SCHEDULER:8786 --host WORKER
# Anywhere: the command, or the app
.venv/bin/python -m core audit --graph social --private affiliation --attack all --out audit/
