-- Run by the role that sets the store up, which owns everything here, in one transaction.

CREATE TABLE version (number int NOT NULL);
INSERT INTO version VALUES (0);

CREATE TABLE palace (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (name <> '' AND length(name) <= 200),
    created timestamptz NOT NULL DEFAULT now()
);
-- Unique by an expression that no query of others may ask this index for: by the name itself
-- EXPLAIN ANALYZE would count the rows that rights take away, and tell whether there is one.
CREATE UNIQUE INDEX ON palace ((name || ''));

-- A role by its number: one that is dropped and made again is another.
CREATE TABLE member (
    palace int NOT NULL REFERENCES palace ON DELETE CASCADE,
    role regrole NOT NULL,
    may_write boolean NOT NULL DEFAULT false,
    PRIMARY KEY (palace, role)
);

-- Rights. A policy asks for the palaces of whoever asks, once for each query. `member` itself
-- shows a role what is granted to it and to the roles that it is a member of, and no more.
--
-- EXPLAIN ANALYZE tells how many rows a filter removed and which part of a plan was run, and
-- PostgreSQL compares texts before it asks for rights. So that nobody finds names of other palaces
-- in this way, a policy is `= ANY (array)`, a condition of every index, all of which begin with what
-- it compares; and rows of others are gone before the first such array is asked for by the rights
-- as they were when the query was planned: constants, thanks to functions declared IMMUTABLE, which
-- they are for one plan. They alone would let in who has lost a right and keeps an old plan.
--
-- From here on nothing is looked up where somebody else may put things: the schema of pgvector.
SET LOCAL search_path = memory_palace, pg_temp;

ALTER TABLE member ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE FUNCTION planned_roles() RETURNS regrole[] LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    BEGIN ATOMIC SELECT ARRAY(SELECT oid::regrole FROM pg_roles WHERE pg_has_role(oid, 'USAGE')); END;
CREATE POLICY own ON member FOR SELECT
    USING (role = ANY (planned_roles()) AND pg_has_role(role, 'USAGE'));
CREATE POLICY administer ON member TO CURRENT_USER USING (true) WITH CHECK (true);

CREATE FUNCTION readable() RETURNS SETOF int LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    BEGIN ATOMIC SELECT palace FROM member WHERE pg_has_role(role, 'USAGE'); END;
CREATE FUNCTION planned_readable() RETURNS int[] LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
    BEGIN ATOMIC SELECT ARRAY(SELECT palace FROM member WHERE pg_has_role(role, 'USAGE')); END;
CREATE FUNCTION writable() RETURNS SETOF int LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    BEGIN ATOMIC SELECT palace FROM member WHERE may_write AND pg_has_role(role, 'USAGE'); END;

ALTER TABLE palace ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reading ON palace FOR SELECT
    USING (id = ANY (planned_readable()) AND id = ANY (ARRAY(SELECT readable())));
CREATE POLICY administer ON palace TO CURRENT_USER USING (true) WITH CHECK (true);

-- Keep values of a table out of the planner's statistics, which are of all palaces: EXPLAIN would
-- show them in its estimates. Of digests two values are kept, so that it knows how many there are.
CREATE PROCEDURE hush(hushed regclass) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    counted text;
BEGIN
    FOR counted IN SELECT attname FROM pg_attribute WHERE attrelid = hushed AND attnum > 0
        AND format_type(atttypid, NULL) NOT IN ('integer', 'smallint', 'boolean')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER %I SET STATISTICS %s', hushed, counted,
            CASE WHEN counted IN ('digest', 'key') THEN 1 ELSE 0 END);
    END LOOP;
END $$;

-- Secure a table whose rows are of palaces.
CREATE PROCEDURE secure(secured regclass) LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$
BEGIN
    CALL hush(secured);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', secured);
    EXECUTE format('CREATE POLICY reading ON %s FOR SELECT
        USING (palace = ANY (planned_readable()) AND palace = ANY (ARRAY(SELECT readable())))',
        secured);
    EXECUTE format('CREATE POLICY adding ON %s FOR INSERT
        WITH CHECK (palace = ANY (ARRAY(SELECT writable())))', secured);
    EXECUTE format('CREATE POLICY changing ON %s FOR UPDATE
        USING (palace = ANY (ARRAY(SELECT writable())))
        WITH CHECK (palace = ANY (ARRAY(SELECT writable())))', secured);
    EXECUTE format('CREATE POLICY removing ON %s FOR DELETE
        USING (palace = ANY (ARRAY(SELECT writable())))', secured);
END $$;
CALL hush('palace');
CALL hush('member');

-- Refuse whoever may not write a palace. Called by functions of the owner, where the caller is not
-- current_user; what SET ROLE says counts before who logged in.
CREATE PROCEDURE demand_writer(of_palace int) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    caller name := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    IF NOT EXISTS (SELECT FROM member WHERE palace = of_palace AND may_write
                   AND pg_has_role(caller, role, 'USAGE')) THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for this palace';
    END IF;
END $$;

REVOKE ALL ON PROCEDURE hush, secure, demand_writer FROM PUBLIC;
