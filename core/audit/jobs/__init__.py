"""Work on the cluster: cells of audits and the other kinds of jobs."""
