"""The first tables. Trials and scores are partitioned by month; `scoregate_add_month` makes a partition.

A migration is never changed: the next version of the tables is another file.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Names are compared by their bytes, as in SQLite: then a range of an index holds all that start alike.
_TEXT = 'text COLLATE "C"'
_TABLES = f"""
CREATE TABLE runs (
    id bigint PRIMARY KEY, run {_TEXT} NOT NULL, project {_TEXT} NOT NULL, key {_TEXT} NOT NULL,
    month integer NOT NULL, started double precision NOT NULL, finished double precision NOT NULL,
    commit_sha {_TEXT}, branch {_TEXT}, message {_TEXT}, dirty smallint NOT NULL, attempt bigint NOT NULL,
    complete smallint NOT NULL, whole smallint NOT NULL, version {_TEXT} NOT NULL, job {_TEXT} NOT NULL,
    cases bigint NOT NULL, scores bigint NOT NULL);
CREATE INDEX ON runs (project, finished);
CREATE INDEX ON runs (project, job);
CREATE TABLE suites (id bigint PRIMARY KEY, project {_TEXT} NOT NULL, label {_TEXT} NOT NULL);
CREATE INDEX ON suites (project, label);
CREATE TABLE cases (
    id bigint PRIMARY KEY, suite_id bigint NOT NULL, hash {_TEXT} NOT NULL, name {_TEXT} NOT NULL);
CREATE INDEX ON cases (hash);
CREATE INDEX ON cases (suite_id);
CREATE TABLE evaluators (
    id bigint PRIMARY KEY, name {_TEXT} NOT NULL, model {_TEXT}, source {_TEXT}, prompt {_TEXT}, parameters {_TEXT},
    version {_TEXT}, higher_is_better smallint NOT NULL);
CREATE INDEX ON evaluators (name);
CREATE TABLE suite_runs (
    run_id bigint NOT NULL, suite_id bigint NOT NULL, cases bigint NOT NULL, passed bigint NOT NULL,
    failed bigint NOT NULL, errored bigint NOT NULL, complete smallint NOT NULL, duration_s double precision,
    p50_ms double precision, cost double precision, models {_TEXT} NOT NULL, PRIMARY KEY (run_id, suite_id));
CREATE INDEX ON suite_runs (suite_id);
CREATE TABLE series (
    run_id bigint NOT NULL, suite_id bigint NOT NULL, evaluator_id bigint NOT NULL, n bigint NOT NULL,
    mean double precision, deviation double precision, passed bigint NOT NULL, failed bigint NOT NULL,
    errored bigint NOT NULL, PRIMARY KEY (run_id, suite_id, evaluator_id));
CREATE INDEX ON series (suite_id, evaluator_id);
CREATE TABLE costs (
    run_id bigint NOT NULL, suite_id bigint NOT NULL, part {_TEXT} NOT NULL, model {_TEXT} NOT NULL,
    calls bigint NOT NULL, input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, cost double precision,
    unpriced bigint NOT NULL, PRIMARY KEY (run_id, suite_id, part, model));
CREATE TABLE trials (
    month integer NOT NULL, run_id bigint NOT NULL, case_id bigint NOT NULL, repeat bigint NOT NULL,
    definition bigint NOT NULL, status {_TEXT} NOT NULL, duration_ms double precision, cost double precision,
    tokens bigint) PARTITION BY LIST (month);
CREATE INDEX ON trials (case_id, run_id);
CREATE INDEX ON trials (run_id);
CREATE TABLE scores (
    month integer NOT NULL, run_id bigint NOT NULL, case_id bigint NOT NULL, evaluator_id bigint NOT NULL,
    repeat bigint NOT NULL, definition bigint NOT NULL, score double precision NOT NULL, passed smallint,
    fresh smallint NOT NULL) PARTITION BY LIST (month);
CREATE INDEX ON scores (case_id);
CREATE INDEX ON scores (run_id);
CREATE INDEX ON scores (run_id) WHERE passed = 0;
CREATE TABLE bases (
    run_id bigint PRIMARY KEY, project {_TEXT} NOT NULL, key {_TEXT} NOT NULL, branch {_TEXT} NOT NULL,
    commit_sha {_TEXT}, finished double precision NOT NULL, content bytea NOT NULL);
CREATE INDEX ON bases (project, key, finished);
ALTER TABLE bases ALTER COLUMN content SET STORAGE EXTERNAL;
"""
# It has the rights of its owner, so that a user who only writes needs no right to create tables. A partition is made
# apart and then attached, which blocks no reader or writer of the others. Only the lock of a table makes PostgreSQL
# notice the partition of a writer that was faster; after an advisory lock it still finds none.
_ADD_MONTH = """
CREATE FUNCTION scoregate_add_month(month integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    parent text;
    part text;
BEGIN
    IF month NOT BETWEEN 200001 AND 209912 THEN
        RAISE EXCEPTION '% is no month', month;
    END IF;
    FOREACH parent IN ARRAY ARRAY['trials', 'scores'] LOOP
        part := format('%s_%s', parent, month);
        IF to_regclass(part) IS NULL THEN
            EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
            IF to_regclass(part) IS NULL THEN
                EXECUTE format('CREATE TABLE %I (LIKE %I)', part, parent);
                EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES IN (%s)', parent, part, month);
            END IF;
        END IF;
    END LOOP;
END
$$
"""
# Only the newest bases of a project are kept, as on the data branch.
_TRIM_BASES = """
CREATE FUNCTION scoregate_trim_bases(of_project text, of_key text) RETURNS void
LANGUAGE sql SECURITY DEFINER AS $$
    DELETE FROM bases WHERE project = of_project AND key = of_key AND run_id NOT IN (
        SELECT run_id FROM bases WHERE project = of_project AND key = of_key ORDER BY finished DESC LIMIT 100)
$$
"""
# Whoever calls them must not choose their tables, and only who may write calls them.
_PROTECT = (
    """
    DO $$ BEGIN
        EXECUTE format('ALTER FUNCTION scoregate_add_month SET search_path = %I, pg_temp', current_schema());
        EXECUTE format('ALTER FUNCTION scoregate_trim_bases SET search_path = %I, pg_temp', current_schema());
    END $$
    """,
    "REVOKE EXECUTE ON FUNCTION scoregate_add_month, scoregate_trim_bases FROM PUBLIC",
)


def upgrade() -> None:
    """Make the tables."""
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            op.execute(statement)
    for statement in (_ADD_MONTH, _TRIM_BASES, *_PROTECT):
        op.execute(statement)


def downgrade() -> None:
    """Delete the tables, with all that they hold."""
    op.execute("DROP FUNCTION scoregate_add_month, scoregate_trim_bases")
    op.execute("DROP TABLE bases, scores, trials, costs, series, suite_runs, evaluators, cases, suites, runs")
