#!/bin/sh
# The certificate and key that scheduler, workers and app know each other by; whoever has the key
# can run code on the cluster.
set -eu
umask 077
openssl req -x509 -newkey rsa:3072 -nodes -days "${DAYS:-365}" -subj /CN=graph-audit \
  -keyout cluster.key -out cluster.pem
