-- The tables of a store, run in one transaction by the role that sets it up and owns everything here.
-- A change of them gets another number, here and in connecting.py: what is stored comes from the notes.

CREATE TABLE version (number int NOT NULL);
INSERT INTO version VALUES (3);

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

CREATE TABLE generation (
    palace int PRIMARY KEY REFERENCES palace ON DELETE CASCADE,
    number int NOT NULL,
    record jsonb NOT NULL,        -- rows.RECORD: the recipe, settings, rooms, disputes
    built_by text NOT NULL,
    built_at timestamptz NOT NULL DEFAULT now(),
    notes int NOT NULL,
    passages int NOT NULL,        -- outside the cold zone, without questions
    last_note int NOT NULL,       -- the highest id of a note so far: none is given twice
    sample bytea NOT NULL         -- f4: the vectors that say what a cosine by chance is
);

CREATE TABLE note (
    palace int NOT NULL,
    id int NOT NULL,
    path text COLLATE "C" NOT NULL,
    stamp bytea NOT NULL,         -- digest of all that is stored of the note
    digest bytea NOT NULL,        -- of its file
    figures bytea NOT NULL,       -- rows.FIGURES: numbers that a question needs of all notes
    type text NOT NULL,
    tags text NOT NULL,
    record bytea NOT NULL,        -- the other fields of index.segment.NoteRow, as JSON
    keys bytea NOT NULL,          -- what its passages are found by
    vectors bytea NOT NULL,       -- f4, a line for each passage
    text bytea NOT NULL,          -- as it may be shown; no text, since a note may hold a NUL
    PRIMARY KEY (palace, id)
) WITH (toast_tuple_target = 256);  -- what is read of all notes lies together
ALTER TABLE note ALTER keys SET STORAGE EXTERNAL, ALTER vectors SET STORAGE EXTERNAL;

CREATE TABLE passage (
    palace int NOT NULL,
    note int NOT NULL,
    place int NOT NULL,
    -- Before all of variable length: an exact scan finds it without walking over them.
    vector halfvec
) PARTITION BY LIST (palace);
ALTER TABLE passage ALTER vector SET STORAGE MAIN;  -- in the row, which an exact scan reads
CREATE INDEX ON passage (palace, note);

-- Which notes of a block hold a term: an entry for each.
CREATE TABLE posting (
    palace int NOT NULL,
    field smallint NOT NULL,
    key bigint NOT NULL,
    block int NOT NULL,
    data bytea NOT NULL,          -- outline.ENTRY
    PRIMARY KEY (palace, field, key, block)
);
ALTER TABLE posting ALTER data SET STORAGE EXTERNAL;

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
-- show them in its estimates. Of keys two values are kept, so that it knows how many there are.
CREATE PROCEDURE hush(hushed regclass) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    counted text;
BEGIN
    FOR counted IN SELECT attname FROM pg_attribute WHERE attrelid = hushed AND attnum > 0
        AND format_type(atttypid, NULL) NOT IN ('integer', 'smallint', 'boolean')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER %I SET STATISTICS %s', hushed, counted,
            CASE WHEN counted = 'key' THEN 1 ELSE 0 END);
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

CALL secure('generation');
CALL secure('note');
CALL secure('passage');
CALL secure('posting');

-- Whoever owns the store makes palaces: tables of their own hold their passages. Attached, since
-- CREATE TABLE ... PARTITION OF would wait for every reader of another palace.
CREATE PROCEDURE make_home(of_palace int) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    home text := format('passage_%s', of_palace);
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE passage INCLUDING STORAGE)', home);
    CALL hush(home::regclass);
    EXECUTE format('ALTER TABLE %I ADD CHECK (palace = %s)', home, of_palace);
    EXECUTE format('ALTER TABLE passage ATTACH PARTITION %I FOR VALUES IN (%s)', home, of_palace);
    -- No policy: of its own accord it shows nothing, to its owner neither.
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', home);
END $$;

-- Give a role the rights on tables that its palaces need and no others; row security does the rest.
-- Nobody is to touch the partitions.
CREATE PROCEDURE settle_rights(of_role regrole) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    writes boolean := (SELECT bool_or(may_write) FROM member WHERE role = of_role);
BEGIN
    IF of_role = quote_ident(current_user)::regrole THEN
        RETURN;
    END IF;
    EXECUTE format('REVOKE ALL ON SCHEMA memory_palace FROM %s', of_role);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA memory_palace FROM %s', of_role);
    EXECUTE format('REVOKE ALL ON FUNCTION index_vectors, count_rows FROM %s', of_role);
    IF writes IS NOT NULL THEN
        EXECUTE format('GRANT USAGE ON SCHEMA memory_palace TO %s', of_role);
        EXECUTE format('GRANT SELECT ON version, palace, member, generation, note, passage, posting
            TO %s', of_role);
    END IF;
    IF writes THEN
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON generation, note, passage, posting TO %s',
            of_role);
        EXECUTE format('GRANT EXECUTE ON FUNCTION index_vectors, count_rows TO %s', of_role);
    END IF;
END $$;

CREATE PROCEDURE drop_palace(dropped int) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    held regrole;
    roles regrole[] := ARRAY(
        SELECT role FROM member JOIN pg_roles AS r ON r.oid = role WHERE palace = dropped);
BEGIN
    DELETE FROM generation WHERE palace = dropped;
    DELETE FROM note WHERE palace = dropped;
    DELETE FROM posting WHERE palace = dropped;
    DELETE FROM palace WHERE id = dropped;
    FOREACH held IN ARRAY roles LOOP
        CALL settle_rights(held);
    END LOOP;
    EXECUTE format('DROP TABLE %I', format('passage_%s', dropped));
END $$;

CREATE FUNCTION make_palace(called text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    made int;
BEGIN
    INSERT INTO palace (name) VALUES (called) RETURNING id INTO made;
    INSERT INTO member VALUES (made, quote_ident(current_user)::regrole, true);
    CALL make_home(made);
    RETURN made;
END $$;

-- Index the vectors of a palace, which only the owner of a table may; the dimension 0 drops the
-- index, before vectors of another embedder come.
CREATE FUNCTION index_vectors(of_palace int, dimension int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    theirs text := (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'vector');
BEGIN
    CALL demand_writer(of_palace);
    IF dimension = 0 THEN
        EXECUTE format('DROP INDEX IF EXISTS %I', format('passage_%s_vector', of_palace));
        RETURN;
    END IF;
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I
        USING hnsw ((vector::%s.halfvec(%s)) %s.halfvec_ip_ops)', format('passage_%s_vector', of_palace),
        format('passage_%s', of_palace), theirs, dimension, theirs);
END $$;

-- Have the tables of a palace counted, which only their owner may: a plan that is made before takes
-- a palace for one row. Always in this order, so that two who push wait for each other and not in
-- a circle.
CREATE FUNCTION count_rows(of_palace int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    CALL demand_writer(of_palace);
    ANALYZE note, posting;
    EXECUTE format('ANALYZE %I', format('passage_%s', of_palace));
END $$;

REVOKE ALL ON FUNCTION make_palace, index_vectors, count_rows FROM PUBLIC;
REVOKE ALL ON PROCEDURE hush, secure, demand_writer, make_home, settle_rights, drop_palace FROM PUBLIC;
