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

CREATE TABLE generation (
    palace int PRIMARY KEY REFERENCES palace ON DELETE CASCADE,
    number int NOT NULL,
    record jsonb NOT NULL,        -- index.commit.Commit without segments
    built_by text NOT NULL,
    built_at timestamptz NOT NULL DEFAULT now(),
    notes int NOT NULL,
    hot_notes int NOT NULL,       -- with words
    passages int NOT NULL,        -- hot, without questions
    rows int NOT NULL,            -- live
    lengths bigint[] NOT NULL,    -- sum over hot passages, by field
    next_note int NOT NULL,
    next_row int NOT NULL,
    next_block int NOT NULL,
    dead bytea NOT NULL,          -- i4 ascending: rows that postings still hold
    blocks jsonb NOT NULL,        -- rows by block
    groups bytea NOT NULL,
    sample int[] NOT NULL         -- rows that say what a cosine by chance is
);

CREATE TABLE note (
    palace int NOT NULL,
    id int NOT NULL,
    path text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    stamp bytea NOT NULL,         -- digest of all that is stored of the note
    is_cold boolean NOT NULL,
    title text NOT NULL,
    type text NOT NULL,
    room text NOT NULL,
    folder text COLLATE "C" NOT NULL,
    priority smallint NOT NULL,
    date float8 NOT NULL,
    days int[] NOT NULL,
    flags smallint NOT NULL,
    tags text[] NOT NULL,
    line bytea NOT NULL,
    record jsonb NOT NULL,        -- the other fields of index.writing.NoteRow
    text bytea NOT NULL,          -- as it may be shown; no text, since a note may hold a NUL
    words int NOT NULL,
    rows int NOT NULL,
    PRIMARY KEY (palace, id),
    -- A path may be longer than a btree's key. Deferred, for notes that change places.
    EXCLUDE USING btree (palace WITH =, md5(path) WITH =) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ON note (palace, bucket);

CREATE TABLE passage (
    palace int NOT NULL,
    id int NOT NULL,
    note int NOT NULL,
    place int NOT NULL,
    first_line int NOT NULL,      -- 0 of a question
    last_line int NOT NULL,
    is_cold boolean NOT NULL,
    -- Before all of variable length: an exact scan finds it without walking over them.
    vector vector,
    mark bytea NOT NULL,
    digest bytea NOT NULL,
    described_digest bytea,
    line bytea NOT NULL,
    keys bytea NOT NULL,          -- postgres.packing.pack_keys
    described vector,
    PRIMARY KEY (palace, id)
) PARTITION BY LIST (palace);
-- Vectors stay in the row, which an exact scan reads; what else is large goes out, as it is: digests
-- do not compress.
ALTER TABLE passage ALTER vector SET STORAGE MAIN;
ALTER TABLE passage ALTER keys SET STORAGE EXTERNAL, ALTER described SET STORAGE EXTERNAL;
CREATE INDEX ON passage (palace, note);  -- a list for each note: a quarter of what place would take
CREATE INDEX ON passage (palace, digest);
CREATE INDEX ON passage (palace, described_digest) WHERE described_digest IS NOT NULL;

CREATE TABLE posting (
    palace int NOT NULL,
    field smallint NOT NULL,
    key bigint NOT NULL,
    block int NOT NULL,           -- negative: cold
    data bytea NOT NULL,          -- postgres.packing.pack_posting
    PRIMARY KEY (palace, field, key, block)
);
ALTER TABLE posting ALTER data SET STORAGE EXTERNAL;

CREATE INDEX ON posting (palace, block);  -- blocks are deleted when they are merged

CREATE TABLE name (
    palace int NOT NULL,
    note int NOT NULL,
    kind smallint NOT NULL,
    folded text COLLATE "C" NOT NULL,
    loose text COLLATE "C" NOT NULL,
    value real NOT NULL,
    target text NOT NULL,
    -- For names with another beginning: an index of an expression is no condition of row security.
    backwards text COLLATE "C" GENERATED ALWAYS AS (reverse(loose)) STORED
);
CREATE INDEX ON name (palace, kind, folded);
CREATE INDEX ON name (palace, kind, loose);
CREATE INDEX ON name (palace, kind, backwards);
CREATE INDEX ON name (palace, note);

CREATE TABLE link (
    palace int NOT NULL,
    note int NOT NULL,
    ending text COLLATE "C" NOT NULL,
    target text NOT NULL
);
CREATE INDEX ON link (palace, ending);
CREATE INDEX ON link (palace, note);

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
CALL secure('generation');
CALL secure('note');
CALL secure('passage');
CALL secure('posting');
CALL secure('name');
CALL secure('link');
ALTER INDEX note_palace_md5_excl ALTER COLUMN 2 SET STATISTICS 1;

-- Whoever owns the store makes palaces: tables of their own hold their passages. Attached, since
-- CREATE TABLE ... PARTITION OF would wait for every reader of another palace.
CREATE FUNCTION make_palace(called text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    made int;
    home text;
BEGIN
    INSERT INTO palace (name) VALUES (called) RETURNING id INTO made;
    INSERT INTO member VALUES (made, quote_ident(current_user)::regrole, true);
    home := format('passage_%s', made);
    EXECUTE format('CREATE TABLE %I (LIKE passage INCLUDING STORAGE)', home);
    CALL hush(home::regclass);
    EXECUTE format('ALTER TABLE %I ADD CHECK (palace = %s)', home, made);
    EXECUTE format('ALTER TABLE passage ATTACH PARTITION %I FOR VALUES IN (%s)', home, made);
    -- No policy: of its own accord it shows nothing, to its owner neither.
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', home);
    RETURN made;
END $$;

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

-- Have the tables of a palace counted, which only their owner may. A plan that is made before takes
-- a palace for one row, and reads all of it once for each of its notes: minutes for a question.
-- Always in this order, so that two who push wait for each other and not in a circle.
CREATE FUNCTION count_rows(of_palace int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    CALL demand_writer(of_palace);
    ANALYZE note, name, link, posting;
    EXECUTE format('ANALYZE %I', format('passage_%s', of_palace));
END $$;

REVOKE ALL ON FUNCTION make_palace, index_vectors, count_rows FROM PUBLIC;
REVOKE ALL ON PROCEDURE hush, secure, demand_writer FROM PUBLIC;
