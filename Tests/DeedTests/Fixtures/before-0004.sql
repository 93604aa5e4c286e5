SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA deed;
CREATE FUNCTION deed.claim_apps(stores text[], apps text[], projects text[], apple_ids bigint[], judges text[], counting boolean[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into deed.apps as known (store, app, project, apple_id, receipts, counts_sandbox)
    select * from unnest(stores, apps, projects, apple_ids, judges, counting)
    on conflict on constraint apps_pkey do update
    set apple_id = excluded.apple_id, receipts = excluded.receipts,
        counts_sandbox = excluded.counts_sandbox
    where known.project = excluded.project;
    if exists (
        select from unnest(stores, apps, projects) as new (store, app, project)
        join deed.apps as known using (store, app)
        where known.project <> new.project
    ) then
        raise exception 'another project has an app'
            using errcode = 'DD003', constraint = 'apps_pkey';
    end if;
end $$;
CREATE FUNCTION deed.claim_orders(projects text[], environments text[], orders text[], customers text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into deed.order_owners (project, environment, order_id, customer)
    select * from unnest(projects, environments, orders, customers)
    -- In one order, so that two who write the same ones wait and never lock each other.
    order by 1, 2, 3
    on conflict on constraint order_owners_pkey do nothing;
    if exists (
        select from unnest(projects, environments, orders, customers)
            as new (project, environment, order_id, customer)
        -- One by one, as in load_holders.
        cross join lateral (
            select o.customer from deed.order_owners as o
            where o.project = new.project and o.environment = new.environment
                and o.order_id = new.order_id
            limit 1
        ) as known
        where known.customer <> new.customer
    ) then
        raise exception 'another customer has an order of that id'
            using errcode = 'DD004', constraint = 'order_owners_pkey';
    end if;
end $$;
CREATE FUNCTION deed.claim_tokens(projects text[], environments text[], tokens text[], customers text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into deed.tokens (project, environment, token, customer)
    select * from unnest(projects, environments, tokens, customers)
    order by 1, 2, 3
    on conflict on constraint tokens_pkey do nothing;
    if exists (
        select from unnest(projects, environments, tokens, customers)
            as new (project, environment, token, customer)
        -- One by one, as in load_holders.
        cross join lateral (
            select t.customer from deed.tokens as t
            where t.project = new.project and t.environment = new.environment
                and t.token = new.token
            limit 1
        ) as known
        where known.customer <> new.customer
    ) then
        raise exception 'another customer has an account token'
            using errcode = 'DD005', constraint = 'tokens_pkey';
    end if;
end $$;
CREATE FUNCTION deed.entitled(project text, customer text, entitlement text, at timestamp with time zone DEFAULT now(), environment text DEFAULT 'production'::text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $_$
    select coalesce(
        (
            select (c.runs ->> $3)::int8multirange @> floor(extract(epoch from $4) * 1000)::bigint
            from deed.customers as c
            where c.shard = deed.shard_of($1, $5, $2)
                and c.project = $1 and c.environment = $5 and c.customer = $2
        ),
        false)
$_$;
CREATE FUNCTION deed.instant(milliseconds bigint) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    select 'epoch'::timestamptz + milliseconds / 1000 * interval '1 second'
        + milliseconds % 1000 * interval '1 millisecond'
$$;
CREATE FUNCTION deed.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'the log only grows: % on %.% is refused', tg_op, tg_table_schema, tg_table_name
        using errcode = 'DD001', hint = 'append an event that corrects the earlier one';
end $$;
CREATE FUNCTION deed.shard_of(project text, environment text, customer text) RETURNS smallint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
declare
    bytes constant bytea := convert_to(project, 'UTF8') || '\x00' || convert_to(environment, 'UTF8')
        || '\x00' || convert_to(customer, 'UTF8');
    hash integer := 37;
begin
    for place in 0 .. octet_length(bytes) - 1 loop
        hash := ((hash # get_byte(bytes, place)) & 63) * 51 & 63;
    end loop;
    return hash;
end $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE deed.apps (
    store text NOT NULL,
    app text NOT NULL,
    project text NOT NULL,
    apple_id bigint,
    receipts text NOT NULL,
    counts_sandbox boolean NOT NULL
);
CREATE TABLE deed.customer_balances (
    shard smallint NOT NULL,
    project text NOT NULL,
    environment text NOT NULL,
    customer text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL
);
CREATE VIEW deed.balances AS
 SELECT b.project,
    b.environment,
    b.customer,
    b.currency,
    b.amount
   FROM deed.customer_balances b;
CREATE TABLE deed.certificates (
    digest bytea NOT NULL,
    der bytea NOT NULL,
    CONSTRAINT certificates_der_check CHECK (((octet_length(der) >= 1) AND (octet_length(der) <= 16384))),
    CONSTRAINT certificates_digest_check CHECK ((octet_length(digest) = 32))
);
CREATE TABLE deed.customers (
    shard smallint NOT NULL,
    project text NOT NULL,
    environment text NOT NULL,
    customer text NOT NULL,
    version bigint NOT NULL,
    next_change_at bigint,
    catalog_version bigint NOT NULL,
    runs jsonb NOT NULL
);
CREATE VIEW deed.entitlements AS
 SELECT c.project,
    c.environment,
    c.customer,
    e.entitlement,
    deed.instant(lower(run.run)) AS starts_at,
    deed.instant(upper(run.run)) AS ends_at
   FROM ((deed.customers c
     CROSS JOIN LATERAL jsonb_each_text(c.runs) e(entitlement, runs))
     CROSS JOIN LATERAL unnest((e.runs)::int8multirange) run(run))
  WHERE (NOT starts_with(c.customer, '$unclaimed/'::text));
CREATE TABLE deed.events (
    shard smallint NOT NULL,
    seq bigint NOT NULL,
    project text NOT NULL,
    environment text NOT NULL,
    customer text NOT NULL,
    version bigint NOT NULL,
    type text NOT NULL,
    payload text NOT NULL,
    digest bytea NOT NULL,
    chain bytea NOT NULL,
    occurred_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    actor text NOT NULL,
    cause text NOT NULL,
    cause_index smallint NOT NULL,
    cause_digest bytea NOT NULL,
    catalog_version bigint NOT NULL,
    CONSTRAINT events_digests_check CHECK (((octet_length(digest) = 32) AND (octet_length(chain) = 32) AND (octet_length(cause_digest) = 32))),
    CONSTRAINT events_payload_check CHECK ((octet_length(payload) <= 1048576))
);
CREATE TABLE deed.evidence (
    digest bytea NOT NULL,
    project text NOT NULL,
    environment text NOT NULL,
    kind text NOT NULL,
    app text,
    signed_at bigint NOT NULL,
    first_seen_at bigint NOT NULL,
    verdict text NOT NULL,
    content bytea,
    certificates bytea NOT NULL,
    CONSTRAINT evidence_certificates_check CHECK ((((octet_length(certificates) % 32) = 0) AND (octet_length(certificates) <= 1024))),
    CONSTRAINT evidence_content_check CHECK ((octet_length(content) <= 4194320)),
    CONSTRAINT evidence_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT evidence_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT evidence_verdict_check CHECK ((verdict = ANY (ARRAY['believed'::text, 'refused'::text])))
);
CREATE TABLE deed.holders (
    project text NOT NULL,
    store text NOT NULL,
    environment text NOT NULL,
    app text NOT NULL,
    original text NOT NULL,
    customer text NOT NULL
);
CREATE TABLE deed.intake (
    id text NOT NULL,
    project text NOT NULL,
    purpose text NOT NULL,
    customer text,
    order_id text,
    environment text NOT NULL,
    kind text NOT NULL,
    app text NOT NULL,
    digest bytea NOT NULL,
    evidence bytea NOT NULL,
    state text NOT NULL,
    tries bigint DEFAULT 0 NOT NULL,
    next_try_at bigint NOT NULL,
    code text,
    sentence text,
    results text,
    actor text,
    reason text,
    ticket text,
    added_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    CONSTRAINT intake_app_check CHECK (((octet_length(app) >= 1) AND (octet_length(app) <= 256))),
    CONSTRAINT intake_bearer_check CHECK (((customer IS NULL) = (purpose = 'notification'::text))),
    CONSTRAINT intake_customer_check CHECK (((octet_length(customer) >= 1) AND (octet_length(customer) <= 256))),
    CONSTRAINT intake_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT intake_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT intake_evidence_check CHECK (((octet_length(evidence) >= 1) AND (octet_length(evidence) <= 4194304))),
    CONSTRAINT intake_id_check CHECK (((octet_length(id) >= 1) AND (octet_length(id) <= 64))),
    CONSTRAINT intake_order_id_check CHECK (((octet_length(order_id) >= 1) AND (octet_length(order_id) <= 256))),
    CONSTRAINT intake_project_check CHECK (((octet_length(project) >= 1) AND (octet_length(project) <= 256))),
    CONSTRAINT intake_purpose_check CHECK ((purpose = ANY (ARRAY['submit'::text, 'restore'::text, 'notification'::text]))),
    CONSTRAINT intake_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'believed'::text, 'refused'::text, 'settled'::text, 'dropped'::text]))),
    CONSTRAINT intake_tries_check CHECK ((tries >= 0))
);
CREATE TABLE deed.keys (
    digest bytea NOT NULL,
    project text NOT NULL,
    key_id text NOT NULL,
    role text NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    CONSTRAINT keys_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT keys_role_check CHECK ((role = ANY (ARRAY['reader'::text, 'backend'::text, 'admin'::text])))
);
CREATE TABLE deed.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    applied_at bigint NOT NULL
);
CREATE TABLE deed.order_owners (
    project text NOT NULL,
    environment text NOT NULL,
    order_id text NOT NULL,
    customer text NOT NULL
);
CREATE TABLE deed.orders (
    shard smallint NOT NULL,
    project text NOT NULL,
    environment text NOT NULL,
    customer text NOT NULL,
    order_id text NOT NULL,
    token text NOT NULL,
    product text,
    opened_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    fulfilled_by text,
    closed_at bigint,
    closed_because text
);
CREATE TABLE deed.projects (
    project text NOT NULL,
    created_at bigint NOT NULL,
    catalog_version bigint DEFAULT 0 NOT NULL,
    projected_version bigint DEFAULT 0 NOT NULL
);
CREATE TABLE deed.purchases (
    shard smallint NOT NULL,
    project text NOT NULL,
    environment text NOT NULL,
    customer text NOT NULL,
    store text NOT NULL,
    original text NOT NULL,
    app text NOT NULL,
    kind text,
    product text NOT NULL,
    purchased_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    is_upgraded boolean NOT NULL,
    will_renew boolean,
    next_product text,
    in_billing_retry boolean,
    grace_until bigint,
    transactions json NOT NULL
);
CREATE TABLE deed.shards (
    shard smallint NOT NULL,
    head bigint DEFAULT 0 NOT NULL,
    chain bytea NOT NULL,
    recorded_at bigint DEFAULT 0 NOT NULL,
    CONSTRAINT shards_chain_check CHECK ((octet_length(chain) = 32)),
    CONSTRAINT shards_head_check CHECK ((head >= 0)),
    CONSTRAINT shards_shard_check CHECK (((shard >= 0) AND (shard <= 63)))
)
WITH (fillfactor='10');
CREATE VIEW deed.subscriptions AS
 SELECT p.project,
    p.environment,
    p.customer,
    p.store,
    p.original AS purchase,
    p.app,
    p.kind,
    p.product,
    deed.instant(p.purchased_at) AS purchased_at,
    deed.instant(p.expires_at) AS expires_at,
    deed.instant(p.grace_until) AS grace_until,
    deed.instant(p.revoked_at) AS revoked_at,
    p.is_upgraded,
    p.will_renew,
    p.next_product,
    p.in_billing_retry
   FROM deed.purchases p
  WHERE ((p.kind = ANY (ARRAY['auto_renewable'::text, 'non_renewing'::text])) AND (NOT starts_with(p.customer, '$unclaimed/'::text)));
CREATE TABLE deed.tokens (
    project text NOT NULL,
    environment text NOT NULL,
    token text NOT NULL,
    customer text NOT NULL
);
INSERT INTO deed.apps VALUES ('apple', 'com.example.app', 'default', NULL, 'local', true);
INSERT INTO deed.certificates VALUES ('\x6d076cdd82d6188977141bb4cd0f1b7491541fb9e602898039d5cd5539860e49', '\x308201aa3082012fa0030201020208619205340ea01d24300a06082a8648ce3d040302302f311c301a06035504030c134d696e74656420496e7465726d656469617465310f300d060355040a0c064d696e746564301e170d3232303930323139303030305a170d3234313030313138353935395a3032311f301d06035504030c164d696e7465642052656365697074205369676e696e67310f300d060355040a0c064d696e7465643059301306072a8648ce3d020106082a8648ce3d0301070342000453d7020d18c6c03af366399e2be838558ef090f1476f121f66fd00ec4608357c3ab3fc4fa679aec52966015c88855228e60ac513bbbf29b8bd5fa9a61b1a04a6a3323030300c0603551d130101ff04023000300e0603551d0f0101ff0404030207803010060a2a864886f76364060b0104020500300a06082a8648ce3d0403020369003066023100c6c201204927d920e504f6433bec193e3d00436c868ed2bdb92cb618df6b4140ea47fdad4dc65cf151a9aeb7541f1e77023100ef44fdf58b00491a6b1ff882a1d39b9523fb951bb93345a3aea55a96defc95307f7040fd59cd0777e2dc8500081427ea');
INSERT INTO deed.certificates VALUES ('\x97caa1f8f5c1c549b4bd03e39f05baadbd300a650702f3c56b7270e1974ddbd8', '\x308201a33082012aa003020102020838a5346997de8510300a06082a8648ce3d04030230273114301206035504030c0b4d696e74656420526f6f74310f300d060355040a0c064d696e746564301e170d3036303432353231343033365a170d3335303230393231343033365a30273114301206035504030c0b4d696e74656420526f6f74310f300d060355040a0c064d696e7465643076301006072a8648ce3d020106052b8104002203620004dfa357573ec6677078c481f5789c90a9e5068342651e68df345abfaa14d409eeb332ede13b5b448454b88891d8d8b6756626cb2b23c86259c81c939e1162bc37c08758cea5f2ca9cfc573245fd8f9b91edc914a0a0bfd85fbecae8e1f2137188a3233021300f0603551d130101ff040530030101ff300e0603551d0f0101ff040403020106300a06082a8648ce3d0403020367003064023064204f0496177082ff94b81fb6e1d8392fd120f004d7892d22c67afb484dbc22f69a66031e374f6ccf7c98b6bc727af70230328d63236d49c04f1f8aa0297675487bfcdfa77a35fb1e19054507f252ccfc030736eb9c42abac97e6da0805da6cbfb3');
INSERT INTO deed.certificates VALUES ('\xbfe9275e933e5136e781e9c64d03d21a37cffa1bb6fef4a5b7436a30b74a8ff6', '\x308201c030820147a00302010202080d77f37236d01e6f300a06082a8648ce3d04030230273114301206035504030c0b4d696e74656420526f6f74310f300d060355040a0c064d696e746564301e170d3133303230373231343834375a170d3333303230373231343834375a302f311c301a06035504030c134d696e74656420496e7465726d656469617465310f300d060355040a0c064d696e7465643076301006072a8648ce3d020106052b810400220362000433fb6b7cfffb17f8ead807dd5058b222d99e81594690a87cea5711ebf5b5b1b9c3a4186b9af025ac922daf6f689d16f2d376f3c8438c2482a43f9a099ea14a8e9e6652a2efe5d72b3ef195de694b2bc7196b00b6a3a3ea45b9d0d14b87dc0dc8a338303630120603551d130101ff040830060101ff020100300e0603551d0f0101ff0404030201063010060a2a864886f7636406020104020500300a06082a8648ce3d04030203670030640230404459ebc3e218341b641a8216280df1542aed665a5b475f4ac3d2a2de326d52902e6142fb0f5d6329d4ef720d55852e023075fe7a79800fb647ade562b9d0e912a43de45ca5a94eabb82e4477f1de2427e7e95ad9978c24ded0062eb792870a3369');
INSERT INTO deed.customer_balances VALUES (28, 'default', 'production', 'ben', 'coins', 45);
INSERT INTO deed.customers VALUES (37, 'default', 'sandbox', 'anna', 2, NULL, 1, '{"pro": "{[1682935199000,1685613599000)}"}');
INSERT INTO deed.customers VALUES (8, 'default', 'sandbox', 'ben', 2, NULL, 1, '{"pro": "{[1682935199000,1685613599000)}"}');
INSERT INTO deed.customers VALUES (24, 'default', 'sandbox', '$unclaimed/apple:2000000000', 1, NULL, 1, '{"pro": "{[1682935199000,1685613599000)}"}');
INSERT INTO deed.customers VALUES (11, 'default', 'sandbox', '$unclaimed/apple:2000000001', 1, NULL, 1, '{"pro": "{[1682935199000,1685613599000)}"}');
INSERT INTO deed.customers VALUES (17, 'default', 'production', 'anna', 2, 1795451093388, 1, '{"pro": "{[1795364693296,1797956693296)}"}');
INSERT INTO deed.customers VALUES (28, 'default', 'production', 'ben', 4, NULL, 1, '{}');
INSERT INTO deed.events VALUES (59, 1, 'default', 'production', '$project/', 1, 'project.created', '{"project":"default"}', '\xf18875fead05ff7e6878b8be2610c70b5c5d1ff53928b596e6546f86462bfd72', '\x84b9600e27c2233871a3e4958c00e773d74b9f381b1b10ae1d422fac820ad0f8', 1795364685878, 1795364685878, 'cli:root', 'command:24ddfcp1h1ct6qp9gp5c86zbv', 0, '\x31b8b0567132f7ff428b45b687d9c0d57fc802ef023282c50ba0579b9a60db9a', 0);
INSERT INTO deed.events VALUES (59, 2, 'default', 'production', '$project/', 2, 'app.set', '{"store":"apple","app":"com.example.app","sandbox_access":"all","receipts":"local"}', '\xb816729b1a30b30ec19e5801cb3577378fc1f2c79ef5a79bbf6d1551d03d95c0', '\xb47b73274a41800a5a1e691bb629cd9980db602ec0e34182ce94a70735918058', 1795364686091, 1795364686091, 'cli:root', 'command:q52ewkqwgrgpy43gzf6wrhkwe', 0, '\xc40615650b7fa1511d6e51c52fc7850d0e777122fd8d74c4d70beffb6a6702ce', 0);
INSERT INTO deed.events VALUES (59, 3, 'default', 'production', '$project/', 3, 'catalog.changed', '{"version":1,"catalog":{"products":[{"id":"coins.100","kind":"consumable","credits":{"coins":100}},{"id":"com.example.pro.month","kind":"auto_renewable","group":"m","level":1,"entitlements":["pro"]}],"entitlements":{"pro":{"title":"pro"}},"currencies":{"coins":{"title":"coins"}},"original_app_version":[]}}', '\x520809961bc73d04b8093382a5b9977369f1c987fb4f155e4588aad12464178d', '\x8667a91eac7856bed276fd63d037692699a26623ce69e075b04487efe3ee11f4', 1795364686347, 1795364686347, 'cli:root', 'command:k1srt7nt55vhhs9wyy7cmfvzw', 0, '\x0126342cd934eeee945ae227e44e826bf25b8e3ce86c6cedfe478c766b92d2ed', 0);
INSERT INTO deed.events VALUES (59, 4, 'default', 'production', '$project/', 4, 'key.created', '{"key":"k_dnr69nj6cjrg0w3an4s","role":"admin","name":"","digest":"782ada9c8c58a19b55f7e5d7b6445f3a0804371756fb0e8720950360000b20d9"}', '\xfbd7fad453d07448b77fd7971079a8be6652dad6af32ed0aa1293ef3e70e044a', '\x93931642fc299a0a1b3b2d80b9178d3c602b06d6d6e0fee6b7d7aa3b18398126', 1795364687911, 1795364687911, 'cli:root', 'command:s2dfg952kykb1p7j4kty3h8g5', 0, '\xce5c1dd7be5f64499ba6573685cf9efac1598febf5bede23af2206871ef4428f', 1);
INSERT INTO deed.events VALUES (59, 5, 'default', 'production', '$project/', 5, 'key.created', '{"key":"k_tynjzrm37psj1dsxev5","role":"reader","name":"old","digest":"de3df0200186d933e0f4f836ce70102b1ddeefcc3a45be72e1c43a71ae694c2e"}', '\xea53c0f7dd3a5d1ff0824ea06bb34cd5ca0b956891556ab5dc3b070b9a37494c', '\x2b1380d1febfb45af7d2234030e10a76db1dc76a37248eea8a506ecf4b0d7531', 1795364688763, 1795364688763, 'cli:root', 'command:2sf8atjrpzy2wr831rszskyd8', 0, '\xb32f3a42ebbb0b952710486ae8c65223bc5237ae5a24487fe9ac878134d139e1', 1);
INSERT INTO deed.events VALUES (59, 6, 'default', 'production', '$project/', 6, 'key.created', '{"key":"k_123yk59kfy3mkf58wgr","role":"reader","name":"gone","digest":"56cad532e62d347a00f9cf65b5d642a720a9e2c476c1add943539e67e71ba267"}', '\x974226185985264c8ed5022b44f9ae834d1a75ec5d037ca22380a513f6594157', '\xc7c87d7b47e87d7773d91f5d8b57bc352913cb5b47f9b23cc90132d85af682c5', 1795364689256, 1795364689256, 'cli:root', 'command:qq3t2bcshw3f9xcc7pwezzfgq', 0, '\x047f87dc395674a324f8059056e5bea61b907f880c268ce8af70fe48e434aa79', 1);
INSERT INTO deed.events VALUES (59, 7, 'default', 'production', '$project/', 7, 'key.revoked', '{"key":"k_123yk59kfy3mkf58wgr","digest":"56cad532e62d347a00f9cf65b5d642a720a9e2c476c1add943539e67e71ba267","at":"2026-11-22T16:24:50.629Z"}', '\xf3d4acf17a55244acc117e23c030974df6b7bee6d7d699aa7f7ab6d0cbf15147', '\xdbce50a4c72ec1ed937c366e3dc31f1229e5a47d3f2b10ea0d4f674f288a9bba', 1795364690629, 1795364690629, 'cli:root', 'command:ccvewbn510apbkrnj785g6jey', 0, '\x40f26323f72927b7c01646b6aa551b91383210be2110de15a92afbdb585e9e34', 1);
INSERT INTO deed.events VALUES (37, 1, 'default', 'sandbox', 'anna', 1, 'purchase.made', '{"store":"apple","environment":"sandbox","app":"com.example.app","transaction":"1000000000","original":"1000000000","product":"com.example.pro.month","kind":"auto_renewable","purchased":"2023-05-01T09:59:59.000Z","originally_purchased":"2023-04-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1,"ownership":"purchased","price":{"milliunits":4990,"currency":"USD"},"group":"20000001","line_item":"2000000000000077","signed_at":"2023-05-01T10:00:00.000Z","rank":"client_transaction"}', '\x1ed4f79d28fb74e57cb09cb63e3330c6d39a7e995f731706b35f6b47cfc73e67', '\xd8487c2b4b6189ce6e181bd6dafdc2c21a75e03f311d5f3aad36a5e61daf3bd1', 1682935199000, 1795364692806, 'key:k_dnr69nj6cjrg0w3an4s', 'evidence:2cc8e2be7124724871818e4feb26f74795eaa50f3cb59900a64dc6b876e9cd07/2e6kj2zm08nj', 0, '\xc3312bd4ba4ae3632e9b2e48c0ae4ce43ce3b2e6da15ff30747a2fab5f68bc40', 1);
INSERT INTO deed.events VALUES (37, 2, 'default', 'sandbox', 'anna', 2, 'purchase.made', '{"store":"apple","environment":"sandbox","app":"com.example.app","transaction":"1000000001","original":"1000000001","product":"com.example.pro.month","kind":"auto_renewable","purchased":"2023-05-01T09:59:59.000Z","originally_purchased":"2023-04-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1,"ownership":"purchased","price":{"milliunits":4990,"currency":"USD"},"group":"20000001","line_item":"2000000000000077","signed_at":"2023-05-01T10:00:00.000Z","rank":"client_transaction"}', '\x1301d366d5ef1c9dd579d3df678b011e8541708f4aebeefdb169267e07319a6e', '\xcf60765349cc0ed29698958218df783c70a0abcca5b0f4465bc90a496d61ed2e', 1682935199000, 1795364693012, 'key:k_dnr69nj6cjrg0w3an4s', 'key:key-1', 0, '\x450d9ada5ccdf70e4124bb142a32cf28b509368a81271dae63c32636976e7f59', 1);
INSERT INTO deed.events VALUES (8, 1, 'default', 'sandbox', 'ben', 1, 'purchase.made', '{"store":"apple","environment":"sandbox","app":"com.example.app","transaction":"1000000002","original":"1000000002","product":"com.example.pro.month","kind":"auto_renewable","purchased":"2023-05-01T09:59:59.000Z","originally_purchased":"2023-04-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1,"ownership":"purchased","price":{"milliunits":4990,"currency":"USD"},"group":"20000001","line_item":"2000000000000077","signed_at":"2023-05-01T10:00:00.000Z","rank":"client_transaction"}', '\x47863f8570c445800c098b4a27328628a308b5a5031bc31f44ec4abc16b46a2f', '\xbbb644becc261c92cd24f0292bb8f32a3121d2693b48532869aa1aa3d8e81bc7', 1682935199000, 1795364693134, 'key:k_dnr69nj6cjrg0w3an4s', 'key:key-2', 0, '\x3dc8cbb6d0058140b2f089e232e0ae24b3aae97cdcfaa4934ba46ffe5ae6ed97', 1);
INSERT INTO deed.events VALUES (8, 2, 'default', 'sandbox', 'ben', 2, 'purchase.made', '{"store":"apple","environment":"sandbox","app":"com.example.app","transaction":"1000000003","original":"1000000003","product":"com.example.pro.month","kind":"auto_renewable","purchased":"2023-05-01T09:59:59.000Z","originally_purchased":"2023-04-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1,"ownership":"purchased","price":{"milliunits":4990,"currency":"USD"},"group":"20000001","line_item":"2000000000000077","signed_at":"2023-05-01T10:00:00.000Z","rank":"client_transaction"}', '\xdbd0d7ae03cf6be6ca9800d9f4a2935496a71bfea4bc0b4e25a554e8c863dca7', '\x01edf6304cc669449b5f7e8cb97335838cf79638e3c84ee686526be386571735', 1682935199000, 1795364693134, 'key:k_dnr69nj6cjrg0w3an4s', 'key:key-2', 1, '\x3dc8cbb6d0058140b2f089e232e0ae24b3aae97cdcfaa4934ba46ffe5ae6ed97', 1);
INSERT INTO deed.events VALUES (24, 1, 'default', 'sandbox', '$unclaimed/apple:2000000000', 1, 'purchase.made', '{"store":"apple","environment":"sandbox","app":"com.example.app","transaction":"2000000000","original":"2000000000","product":"com.example.pro.month","kind":"auto_renewable","purchased":"2023-05-01T09:59:59.000Z","originally_purchased":"2023-04-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1,"ownership":"purchased","price":{"milliunits":4990,"currency":"USD"},"group":"20000001","line_item":"2000000000000077","signed_at":"2023-05-01T10:00:00.000Z","rank":"notification"}', '\x2d9feed0f48fb69a7022b773c762d71813d9bcc0f994a66ac4f0990543c96843', '\x250b382ff7ce12673c9162d66577b3009b536ae31550656d66e48b933034d001', 1682935199000, 1795364693202, 'store:apple', 'notification:notification-2000000000/38f59cef7b03fbfe', 0, '\x39360e26cda347f2449db865eff167717ffa5c13d9de0498a1662738705fadae', 1);
INSERT INTO deed.events VALUES (11, 1, 'default', 'sandbox', '$unclaimed/apple:2000000001', 1, 'purchase.made', '{"store":"apple","environment":"sandbox","app":"com.example.app","transaction":"2000000001","original":"2000000001","product":"com.example.pro.month","kind":"auto_renewable","purchased":"2023-05-01T09:59:59.000Z","originally_purchased":"2023-04-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1,"ownership":"purchased","price":{"milliunits":4990,"currency":"USD"},"group":"20000001","line_item":"2000000000000077","signed_at":"2023-05-01T10:00:00.000Z","rank":"notification"}', '\xa05792590351edb80d69c655dd9ace371f1b98bafdd880b69ef253e02b99a9e9', '\x78ac8d2030a297db8db5e68310c424de9ec4342f4caddc59f8da3cd267d3886c', 1682935199000, 1795364693250, 'store:apple', 'notification:notification-2000000001/c31623092fc39942', 0, '\xcc770b1773ca215d1f2bacc9c832369e85dcbed40d5d6fd1088106af20a0ca54', 1);
INSERT INTO deed.events VALUES (17, 1, 'default', 'production', 'anna', 1, 'grant.given', '{"grant":"g_p34qrqmvx299zd2y63j","entitlement":"pro","start":"2026-11-22T16:24:53.296Z","end":"2026-12-22T16:24:53.296Z","reason":"r","ticket":null}', '\x89655bc3567a6728dc5d74245594084c5843369b939a3b2fb40ca09881229db4', '\xbc588f38dc78201cfa3360de1d3629b1ff24be3a8783d8b9efa0375e15db67a1', 1795364693296, 1795364693296, 'key:k_dnr69nj6cjrg0w3an4s', 'key:g1', 0, '\xe0de221b11c6547e6babd9722680cd5ea16bbf1d50cd95c1af0960568979b9f9', 1);
INSERT INTO deed.events VALUES (17, 2, 'default', 'production', 'anna', 2, 'grant.given', '{"grant":"g_htwssrj2b40t352263r","entitlement":"pro","start":"2026-11-22T16:24:53.388Z","end":"2026-11-23T16:24:53.388Z","reason":"r2","ticket":null}', '\x30218419efc0b0506377fcf6ec73575d4d71e267be89a08cf58f7ff01b368726', '\xbccdf6f420615fab707e7ee20d40dc6ac73e0196e3565bc37797144dd4c5486b', 1795364693388, 1795364693388, 'key:k_dnr69nj6cjrg0w3an4s', 'command:xdba6hzt7swgjnsqwcadaq3w8', 0, '\xa1ce15d38bdd982fc8439524bdf2c275ebc9aadc9ba98db12d03c70b95a888f9', 1);
INSERT INTO deed.events VALUES (28, 1, 'default', 'production', 'ben', 1, 'order.opened', '{"order":"o_jyqszb2e89q61wfe3c8","token":"918bc3e8-c6cc-4913-804b-ee5180b1d5b3","product":"coins.100","opened_at":"2026-11-22T16:24:53.515Z","expires":"2026-11-29T16:24:53.515Z"}', '\x93595ae730eaebdaf6543c7c63a4c2b8828336a022111ede8b886b3d5cded0c2', '\xd8df1b24d6b288656b070f6c39a935339d3cbdc7271d98d767e007f8f909b3eb', 1795364693515, 1795364693515, 'key:k_dnr69nj6cjrg0w3an4s', 'command:jbqs7hrrpg3dfeq2v4r7qcxew', 0, '\xbb5bc4255718766fb6bca6bf289cdf3057129b5e65119ced74fd60388b6a720c', 1);
INSERT INTO deed.events VALUES (28, 2, 'default', 'production', 'ben', 2, 'token.registered', '{"token":"6f1d3ba5-3e9b-4b0e-9c0e-0a4f6a1f7c11"}', '\x9a4f5b4a1a6fd15190fcb4eba6ea98c4b734aeeead4cfa4ec3f53750a0529c0d', '\xb9f757ee8a56f52d40e44dc876b313f594e1dc085f03fd8702884cdcef5589f4', 1795364693639, 1795364693639, 'key:k_dnr69nj6cjrg0w3an4s', 'command:2s22sgn376cnywysrb23af9jp', 0, '\x39b17550bb9cd15c07a8d43d6ef12c05d8f8c68df1ee139337c02e88c0a8fd51', 1);
INSERT INTO deed.events VALUES (28, 3, 'default', 'production', 'ben', 3, 'balance.adjusted', '{"currency":"coins","amount":50,"reason":"x"}', '\xeea3a1575c93a4b8a9d7e7ca8b4250703f459951f7d2c0500890fe61152d3d3c', '\x84185414d84e263ce670df61fd6d543afbd54a1a6a7e2828c0ce5d4291595c14', 1795364693679, 1795364693679, 'key:k_dnr69nj6cjrg0w3an4s', 'command:gwgs840zxkc2yz0w3z4mmvy71', 0, '\xc2187c3f0e496c81e5bd10ba5023665b68be802e7e3a310f105a614bddf09c59', 1);
INSERT INTO deed.events VALUES (28, 4, 'default', 'production', 'ben', 4, 'balance.spent', '{"currency":"coins","amount":5}', '\xd915f84f0b74da48f9534ca6fa0ce4ed3520a19a478333e6258d2831a0d104dc', '\x87ea3d413ebc24df876a238737b10a01a5303146cb16362baeae30cb8d7a40ca', 1795364693690, 1795364693690, 'key:k_dnr69nj6cjrg0w3an4s', 'command:3yhv393b9bmsyjr5bs8kg98me', 0, '\x244145764e4346ce0ecafe19855a4a6d04d1a66c3968d24c8a23bd768aea1fc3', 1);
INSERT INTO deed.evidence VALUES ('\x2cc8e2be7124724871818e4feb26f74795eaa50f3cb59900a64dc6b876e9cd07', 'default', 'sandbox', 'signed_transaction', 'com.example.app', 1682935200000, 1795364692806, 'believed', '\x030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e030000024d00000002487b227472616e73616374696f6e4964223a2231303030303030303030222c226f726967696e616c5472616e73616374696f6e4964223a2231303030303030303030222c227765624f726465724c696e654974656d4964223a2232303030303030303030303030303737222c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2270726f647563744964223a22636f6d2e6578616d706c652e70726f2e6d6f6e7468222c22737562736372697074696f6e47726f75704964656e746966696572223a223230303030303031222c22707572636861736544617465223a313638323933353139393030302c226f726967696e616c507572636861736544617465223a313638303334333139393030302c226578706972657344617465223a313638353631333539393030302c227175616e74697479223a312c2274797065223a224175746f2d52656e657761626c6520537562736372697074696f6e222c22696e4170704f776e65727368697054797065223a22505552434841534544222c227369676e656444617465223a313638323933353230303030302c22656e7669726f6e6d656e74223a2253616e64626f78222c227472616e73616374696f6e526561736f6e223a2252454e4557414c222c2273746f726566726f6e74223a22555341222c2273746f726566726f6e744964223a22313433343431222c227072696365223a343939302c2263757272656e6379223a22555344222c226170705472616e73616374696f6e4964223a22373034303030303030303030303030303031227d00000000012e03000000450000000040f5f655620e7ba7288aecb663fc483d298cff28109e8c2439f1e5cfed26f64619f3f432c0bb0b148167460523d8ac1e7891d52f02a02b4b61aaa5dd0eca64867b', '\x6d076cdd82d6188977141bb4cd0f1b7491541fb9e602898039d5cd5539860e49bfe9275e933e5136e781e9c64d03d21a37cffa1bb6fef4a5b7436a30b74a8ff697caa1f8f5c1c549b4bd03e39f05baadbd300a650702f3c56b7270e1974ddbd8');
INSERT INTO deed.evidence VALUES ('\x30557d96d9cfa0c6bb972b870240c8ae41e5632f6e928ce0f41e6870502b319c', 'default', 'sandbox', 'signed_transaction', 'com.example.app', 1682935200000, 1795364693012, 'believed', '\x030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e030000024d00000002487b227472616e73616374696f6e4964223a2231303030303030303031222c226f726967696e616c5472616e73616374696f6e4964223a2231303030303030303031222c227765624f726465724c696e654974656d4964223a2232303030303030303030303030303737222c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2270726f647563744964223a22636f6d2e6578616d706c652e70726f2e6d6f6e7468222c22737562736372697074696f6e47726f75704964656e746966696572223a223230303030303031222c22707572636861736544617465223a313638323933353139393030302c226f726967696e616c507572636861736544617465223a313638303334333139393030302c226578706972657344617465223a313638353631333539393030302c227175616e74697479223a312c2274797065223a224175746f2d52656e657761626c6520537562736372697074696f6e222c22696e4170704f776e65727368697054797065223a22505552434841534544222c227369676e656444617465223a313638323933353230303030302c22656e7669726f6e6d656e74223a2253616e64626f78222c227472616e73616374696f6e526561736f6e223a2252454e4557414c222c2273746f726566726f6e74223a22555341222c2273746f726566726f6e744964223a22313433343431222c227072696365223a343939302c2263757272656e6379223a22555344222c226170705472616e73616374696f6e4964223a22373034303030303030303030303030303031227d00000000012e0300000045000000004079172c0615614b9f20e26f7ef9c63ca0be7ee2797d7deebd83a9aa58b6844c04368ee2bed3ec7176cc297998a9514b3b636fc784031c29c4579fbece96ccb2ee', '\x6d076cdd82d6188977141bb4cd0f1b7491541fb9e602898039d5cd5539860e49bfe9275e933e5136e781e9c64d03d21a37cffa1bb6fef4a5b7436a30b74a8ff697caa1f8f5c1c549b4bd03e39f05baadbd300a650702f3c56b7270e1974ddbd8');
INSERT INTO deed.evidence VALUES ('\x820c05b38ca6ce57ff62f9ba4f04dd1342f668fc82338242eff32bc7109718d8', 'default', 'sandbox', 'signed_transaction', 'com.example.app', 1682935200000, 1795364693134, 'believed', '\x030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e030000024d00000002487b227472616e73616374696f6e4964223a2231303030303030303033222c226f726967696e616c5472616e73616374696f6e4964223a2231303030303030303033222c227765624f726465724c696e654974656d4964223a2232303030303030303030303030303737222c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2270726f647563744964223a22636f6d2e6578616d706c652e70726f2e6d6f6e7468222c22737562736372697074696f6e47726f75704964656e746966696572223a223230303030303031222c22707572636861736544617465223a313638323933353139393030302c226f726967696e616c507572636861736544617465223a313638303334333139393030302c226578706972657344617465223a313638353631333539393030302c227175616e74697479223a312c2274797065223a224175746f2d52656e657761626c6520537562736372697074696f6e222c22696e4170704f776e65727368697054797065223a22505552434841534544222c227369676e656444617465223a313638323933353230303030302c22656e7669726f6e6d656e74223a2253616e64626f78222c227472616e73616374696f6e526561736f6e223a2252454e4557414c222c2273746f726566726f6e74223a22555341222c2273746f726566726f6e744964223a22313433343431222c227072696365223a343939302c2263757272656e6379223a22555344222c226170705472616e73616374696f6e4964223a22373034303030303030303030303030303031227d00000000012e030000004500000000408ea73db1cda7c969d49c0b5804e0c5dba6cb4167d5931ded36102b9708c32714a62b615c28d8217c9eaa8fd7494962175ae201e73ebaa197e7733391c3733206', '\x6d076cdd82d6188977141bb4cd0f1b7491541fb9e602898039d5cd5539860e49bfe9275e933e5136e781e9c64d03d21a37cffa1bb6fef4a5b7436a30b74a8ff697caa1f8f5c1c549b4bd03e39f05baadbd300a650702f3c56b7270e1974ddbd8');
INSERT INTO deed.evidence VALUES ('\x83eda58a1d7173578da29340bce5409b8724f14fd04c4864b5d7fab496b7a59e', 'default', 'sandbox', 'signed_transaction', 'com.example.app', 1682935200000, 1795364693134, 'believed', '\x030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e030000024d00000002487b227472616e73616374696f6e4964223a2231303030303030303032222c226f726967696e616c5472616e73616374696f6e4964223a2231303030303030303032222c227765624f726465724c696e654974656d4964223a2232303030303030303030303030303737222c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2270726f647563744964223a22636f6d2e6578616d706c652e70726f2e6d6f6e7468222c22737562736372697074696f6e47726f75704964656e746966696572223a223230303030303031222c22707572636861736544617465223a313638323933353139393030302c226f726967696e616c507572636861736544617465223a313638303334333139393030302c226578706972657344617465223a313638353631333539393030302c227175616e74697479223a312c2274797065223a224175746f2d52656e657761626c6520537562736372697074696f6e222c22696e4170704f776e65727368697054797065223a22505552434841534544222c227369676e656444617465223a313638323933353230303030302c22656e7669726f6e6d656e74223a2253616e64626f78222c227472616e73616374696f6e526561736f6e223a2252454e4557414c222c2273746f726566726f6e74223a22555341222c2273746f726566726f6e744964223a22313433343431222c227072696365223a343939302c2263757272656e6379223a22555344222c226170705472616e73616374696f6e4964223a22373034303030303030303030303030303031227d00000000012e03000000450000000040faa9efa06d38eff301b1426b9c16ee699e97208c8486c16f2c6dafffd1ded393cc4aa2d223a7309ee53007f4ace55e992001741eadd07fa2baf6468b81e55e10', '\x6d076cdd82d6188977141bb4cd0f1b7491541fb9e602898039d5cd5539860e49bfe9275e933e5136e781e9c64d03d21a37cffa1bb6fef4a5b7436a30b74a8ff697caa1f8f5c1c549b4bd03e39f05baadbd300a650702f3c56b7270e1974ddbd8');
INSERT INTO deed.evidence VALUES ('\x39360e26cda347f2449db865eff167717ffa5c13d9de0498a1662738705fadae', 'default', 'sandbox', 'notification', 'com.example.app', 1682935200000, 1795364693202, 'believed', '\x030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e03000003fa00000001067b226e6f74696669636174696f6e54797065223a224449445f52454e4557222c226e6f74696669636174696f6e55554944223a226e6f74696669636174696f6e2d32303030303030303030222c2276657273696f6e223a22322e30222c227369676e656444617465223a313638323933353230303030302c2264617461223a7b226170704170706c654964223a313233343536373839302c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2262756e646c6556657273696f6e223a223432222c22656e7669726f6e6d656e74223a2253616e64626f78222c22737461747573223a312c227369676e65645472616e73616374696f6e496e666f223a22030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e030000024d00000002487b227472616e73616374696f6e4964223a2232303030303030303030222c226f726967696e616c5472616e73616374696f6e4964223a2232303030303030303030222c227765624f726465724c696e654974656d4964223a2232303030303030303030303030303737222c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2270726f647563744964223a22636f6d2e6578616d706c652e70726f2e6d6f6e7468222c22737562736372697074696f6e47726f75704964656e746966696572223a223230303030303031222c22707572636861736544617465223a313638323933353139393030302c226f726967696e616c507572636861736544617465223a313638303334333139393030302c226578706972657344617465223a313638353631333539393030302c227175616e74697479223a312c2274797065223a224175746f2d52656e657761626c6520537562736372697074696f6e222c22696e4170704f776e65727368697054797065223a22505552434841534544222c227369676e656444617465223a313638323933353230303030302c22656e7669726f6e6d656e74223a2253616e64626f78222c227472616e73616374696f6e526561736f6e223a2252454e4557414c222c2273746f726566726f6e74223a22555341222c2273746f726566726f6e744964223a22313433343431222c227072696365223a343939302c2263757272656e6379223a22555344222c226170705472616e73616374696f6e4964223a22373034303030303030303030303030303031227d00000000012e0300000045000000004054fa3df250bcd32e61037c2d5a0302f292e63baa76cd405883a07ffb0d126546b63e6025924ebfee21a23eaa012c30f91dc3ace56107ac8f2ffe1b8a4e567ad30000000003227d7d00000000012e0300000045000000004070c70172ab0ef131e0ff4f80572d3c2827f1ce7c148abf5d77b2a6b249289af369fc1942e1eb3cc637b493767caf9b8fb5db87fc6147198dded68fd31912a727', '\x6d076cdd82d6188977141bb4cd0f1b7491541fb9e602898039d5cd5539860e49bfe9275e933e5136e781e9c64d03d21a37cffa1bb6fef4a5b7436a30b74a8ff697caa1f8f5c1c549b4bd03e39f05baadbd300a650702f3c56b7270e1974ddbd8');
INSERT INTO deed.evidence VALUES ('\xcc770b1773ca215d1f2bacc9c832369e85dcbed40d5d6fd1088106af20a0ca54', 'default', 'sandbox', 'notification', 'com.example.app', 1682935200000, 1795364693250, 'believed', '\x030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e03000003fa00000001067b226e6f74696669636174696f6e54797065223a224449445f52454e4557222c226e6f74696669636174696f6e55554944223a226e6f74696669636174696f6e2d32303030303030303031222c2276657273696f6e223a22322e30222c227369676e656444617465223a313638323933353230303030302c2264617461223a7b226170704170706c654964223a313233343536373839302c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2262756e646c6556657273696f6e223a223432222c22656e7669726f6e6d656e74223a2253616e64626f78222c22737461747573223a312c227369676e65645472616e73616374696f6e496e666f223a22030000003a00000000177b22616c67223a224553323536222c22783563223a5b2202000000000003222c2202010000000003222c2202020000000003225d7d00000000012e030000024d00000002487b227472616e73616374696f6e4964223a2232303030303030303031222c226f726967696e616c5472616e73616374696f6e4964223a2232303030303030303031222c227765624f726465724c696e654974656d4964223a2232303030303030303030303030303737222c2262756e646c654964223a22636f6d2e6578616d706c652e617070222c2270726f647563744964223a22636f6d2e6578616d706c652e70726f2e6d6f6e7468222c22737562736372697074696f6e47726f75704964656e746966696572223a223230303030303031222c22707572636861736544617465223a313638323933353139393030302c226f726967696e616c507572636861736544617465223a313638303334333139393030302c226578706972657344617465223a313638353631333539393030302c227175616e74697479223a312c2274797065223a224175746f2d52656e657761626c6520537562736372697074696f6e222c22696e4170704f776e65727368697054797065223a22505552434841534544222c227369676e656444617465223a313638323933353230303030302c22656e7669726f6e6d656e74223a2253616e64626f78222c227472616e73616374696f6e526561736f6e223a2252454e4557414c222c2273746f726566726f6e74223a22555341222c2273746f726566726f6e744964223a22313433343431222c227072696365223a343939302c2263757272656e6379223a22555344222c226170705472616e73616374696f6e4964223a22373034303030303030303030303030303031227d00000000012e03000000450000000040147166a8b8885e37040401e84f067c10a34632a768085621cdf3e7b3a85ce3d3f4d3757d10126c52c2aaf575a6302bdc6fa6fcec3b84a9e7fcf68b18c6ee77360000000003227d7d00000000012e030000004500000000404a91591dccafb823711bf4d69d0950bd6ded9e828f639e96d63658db685a75b7419c628b4e69fdb320da4f42ee397be93997c5cf19055d8a306d2efa544ce0e0', '\x6d076cdd82d6188977141bb4cd0f1b7491541fb9e602898039d5cd5539860e49bfe9275e933e5136e781e9c64d03d21a37cffa1bb6fef4a5b7436a30b74a8ff697caa1f8f5c1c549b4bd03e39f05baadbd300a650702f3c56b7270e1974ddbd8');
INSERT INTO deed.holders VALUES ('default', 'apple', 'sandbox', 'com.example.app', '1000000000', 'anna');
INSERT INTO deed.holders VALUES ('default', 'apple', 'sandbox', 'com.example.app', '1000000001', 'anna');
INSERT INTO deed.holders VALUES ('default', 'apple', 'sandbox', 'com.example.app', '1000000002', 'ben');
INSERT INTO deed.holders VALUES ('default', 'apple', 'sandbox', 'com.example.app', '1000000003', 'ben');
INSERT INTO deed.holders VALUES ('default', 'apple', 'sandbox', 'com.example.app', '2000000000', '$unclaimed/apple:2000000000');
INSERT INTO deed.holders VALUES ('default', 'apple', 'sandbox', 'com.example.app', '2000000001', '$unclaimed/apple:2000000001');
INSERT INTO deed.keys VALUES ('\x782ada9c8c58a19b55f7e5d7b6445f3a0804371756fb0e8720950360000b20d9', 'default', 'k_dnr69nj6cjrg0w3an4s', 'admin', '', 1795364687911, NULL);
INSERT INTO deed.keys VALUES ('\xde3df0200186d933e0f4f836ce70102b1ddeefcc3a45be72e1c43a71ae694c2e', 'default', 'k_tynjzrm37psj1dsxev5', 'reader', 'old', 1795364688763, NULL);
INSERT INTO deed.keys VALUES ('\x56cad532e62d347a00f9cf65b5d642a720a9e2c476c1add943539e67e71ba267', 'default', 'k_123yk59kfy3mkf58wgr', 'reader', 'gone', 1795364689256, 1795364690629);
INSERT INTO deed.migrations VALUES (1, '0001_ledger', '\xa4d47532c1f0c29f6ed14a8fcbc333d7857a0228daa37bd599a0bd9d44ca3a38', 1795364659627);
INSERT INTO deed.migrations VALUES (2, '0002_contract', '\x3933e221a650deb0ebd393d2f6bed8f47e70bb534baae2a04a2b8f93b51bab1c', 1795364659627);
INSERT INTO deed.migrations VALUES (3, '0003_intake', '\x2ce481decf974e0c64d030e1f15035a473125bd4ad445daf126c09f6011ced8a', 1795364659627);
INSERT INTO deed.order_owners VALUES ('default', 'production', 'o_jyqszb2e89q61wfe3c8', 'ben');
INSERT INTO deed.orders VALUES (28, 'default', 'production', 'ben', 'o_jyqszb2e89q61wfe3c8', '918bc3e8-c6cc-4913-804b-ee5180b1d5b3', 'coins.100', 1795364693515, 1795969493515, NULL, NULL, NULL);
INSERT INTO deed.projects VALUES ('default', 1795364685878, 1, 1);
INSERT INTO deed.purchases VALUES (37, 'default', 'sandbox', 'anna', 'apple', '1000000000', 'com.example.app', 'auto_renewable', 'com.example.pro.month', 1682935199000, 1685613599000, NULL, false, NULL, NULL, NULL, NULL, '[{"transaction":"1000000000","product":"com.example.pro.month","purchased":"2023-05-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1}]');
INSERT INTO deed.purchases VALUES (37, 'default', 'sandbox', 'anna', 'apple', '1000000001', 'com.example.app', 'auto_renewable', 'com.example.pro.month', 1682935199000, 1685613599000, NULL, false, NULL, NULL, NULL, NULL, '[{"transaction":"1000000001","product":"com.example.pro.month","purchased":"2023-05-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1}]');
INSERT INTO deed.purchases VALUES (8, 'default', 'sandbox', 'ben', 'apple', '1000000002', 'com.example.app', 'auto_renewable', 'com.example.pro.month', 1682935199000, 1685613599000, NULL, false, NULL, NULL, NULL, NULL, '[{"transaction":"1000000002","product":"com.example.pro.month","purchased":"2023-05-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1}]');
INSERT INTO deed.purchases VALUES (8, 'default', 'sandbox', 'ben', 'apple', '1000000003', 'com.example.app', 'auto_renewable', 'com.example.pro.month', 1682935199000, 1685613599000, NULL, false, NULL, NULL, NULL, NULL, '[{"transaction":"1000000003","product":"com.example.pro.month","purchased":"2023-05-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1}]');
INSERT INTO deed.purchases VALUES (24, 'default', 'sandbox', '$unclaimed/apple:2000000000', 'apple', '2000000000', 'com.example.app', 'auto_renewable', 'com.example.pro.month', 1682935199000, 1685613599000, NULL, false, NULL, NULL, NULL, NULL, '[{"transaction":"2000000000","product":"com.example.pro.month","purchased":"2023-05-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1}]');
INSERT INTO deed.purchases VALUES (11, 'default', 'sandbox', '$unclaimed/apple:2000000001', 'apple', '2000000001', 'com.example.app', 'auto_renewable', 'com.example.pro.month', 1682935199000, 1685613599000, NULL, false, NULL, NULL, NULL, NULL, '[{"transaction":"2000000001","product":"com.example.pro.month","purchased":"2023-05-01T09:59:59.000Z","expires":"2023-06-01T09:59:59.000Z","quantity":1}]');
INSERT INTO deed.shards VALUES (0, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (1, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (2, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (3, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (4, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (5, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (6, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (7, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (9, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (10, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (12, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (13, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (14, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (15, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (8, 2, '\x01edf6304cc669449b5f7e8cb97335838cf79638e3c84ee686526be386571735', 1795364693134);
INSERT INTO deed.shards VALUES (11, 1, '\x78ac8d2030a297db8db5e68310c424de9ec4342f4caddc59f8da3cd267d3886c', 1795364693250);
INSERT INTO deed.shards VALUES (16, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (18, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (19, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (20, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (21, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (22, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (23, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (17, 2, '\xbccdf6f420615fab707e7ee20d40dc6ac73e0196e3565bc37797144dd4c5486b', 1795364693388);
INSERT INTO deed.shards VALUES (25, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (26, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (27, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (29, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (30, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (31, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (24, 1, '\x250b382ff7ce12673c9162d66577b3009b536ae31550656d66e48b933034d001', 1795364693202);
INSERT INTO deed.shards VALUES (28, 4, '\x87ea3d413ebc24df876a238737b10a01a5303146cb16362baeae30cb8d7a40ca', 1795364693690);
INSERT INTO deed.shards VALUES (32, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (33, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (34, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (35, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (36, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (38, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (39, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (37, 2, '\xcf60765349cc0ed29698958218df783c70a0abcca5b0f4465bc90a496d61ed2e', 1795364693012);
INSERT INTO deed.shards VALUES (40, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (41, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (42, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (43, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (44, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (45, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (46, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (47, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (48, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (49, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (50, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (51, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (52, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (53, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (54, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (55, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (56, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (57, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (58, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (60, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (61, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (62, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (63, 0, '\x0000000000000000000000000000000000000000000000000000000000000000', 0);
INSERT INTO deed.shards VALUES (59, 7, '\xdbce50a4c72ec1ed937c366e3dc31f1229e5a47d3f2b10ea0d4f674f288a9bba', 1795364690629);
INSERT INTO deed.tokens VALUES ('default', 'production', '918bc3e8-c6cc-4913-804b-ee5180b1d5b3', 'ben');
INSERT INTO deed.tokens VALUES ('default', 'production', '6f1d3ba5-3e9b-4b0e-9c0e-0a4f6a1f7c11', 'ben');
ALTER TABLE ONLY deed.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (store, app);
ALTER TABLE ONLY deed.certificates
    ADD CONSTRAINT certificates_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY deed.customer_balances
    ADD CONSTRAINT customer_balances_pkey PRIMARY KEY (shard, customer, project, environment, currency);
ALTER TABLE ONLY deed.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (shard, customer, project, environment);
ALTER TABLE ONLY deed.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (shard, seq);
ALTER TABLE ONLY deed.events
    ADD CONSTRAINT events_version_key UNIQUE (customer, project, environment, version, shard);
ALTER TABLE ONLY deed.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY deed.holders
    ADD CONSTRAINT holders_pkey PRIMARY KEY (original, project, store, environment, app);
ALTER TABLE ONLY deed.intake
    ADD CONSTRAINT intake_pkey PRIMARY KEY (id);
ALTER TABLE ONLY deed.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY deed.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY deed.order_owners
    ADD CONSTRAINT order_owners_pkey PRIMARY KEY (order_id, project, environment);
ALTER TABLE ONLY deed.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (shard, customer, project, environment, order_id);
ALTER TABLE ONLY deed.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (project);
ALTER TABLE ONLY deed.purchases
    ADD CONSTRAINT purchases_pkey PRIMARY KEY (shard, customer, project, environment, store, original);
ALTER TABLE ONLY deed.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (shard);
ALTER TABLE ONLY deed.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (token, project, environment);
CREATE INDEX customers_next_change ON deed.customers USING btree (next_change_at) WHERE (next_change_at IS NOT NULL);
CREATE INDEX intake_due ON deed.intake USING btree (tries, next_try_at) INCLUDE (added_at) WHERE (state = 'waiting'::text);
CREATE INDEX intake_ended ON deed.intake USING btree (changed_at) WHERE (state <> 'waiting'::text);
CREATE INDEX intake_listed ON deed.intake USING btree (project, added_at, id);
CREATE UNIQUE INDEX intake_waiting_key ON deed.intake USING btree (project, digest, purpose, environment, COALESCE(customer, ''::text)) WHERE (state = 'waiting'::text);
CREATE INDEX keys_of_project ON deed.keys USING btree (project, created_at);
CREATE INDEX tokens_of_customer ON deed.tokens USING hash (customer);
CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON deed.events FOR EACH STATEMENT EXECUTE FUNCTION deed.refuse_change();
ALTER TABLE deed.events ENABLE ALWAYS TRIGGER events_are_not_emptied;
CREATE TRIGGER events_only_grow BEFORE DELETE OR UPDATE ON deed.events FOR EACH ROW EXECUTE FUNCTION deed.refuse_change();
ALTER TABLE deed.events ENABLE ALWAYS TRIGGER events_only_grow;
CREATE TRIGGER shards_are_not_emptied BEFORE TRUNCATE ON deed.shards FOR EACH STATEMENT EXECUTE FUNCTION deed.refuse_change();
CREATE TRIGGER shards_only_grow BEFORE UPDATE ON deed.shards FOR EACH ROW WHEN ((new.head < old.head)) EXECUTE FUNCTION deed.refuse_change();
CREATE TRIGGER shards_stay BEFORE DELETE ON deed.shards FOR EACH ROW EXECUTE FUNCTION deed.refuse_change();
GRANT USAGE ON SCHEMA deed TO deed_service;
REVOKE ALL ON FUNCTION deed.claim_apps(stores text[], apps text[], projects text[], apple_ids bigint[], judges text[], counting boolean[]) FROM PUBLIC;
GRANT ALL ON FUNCTION deed.claim_apps(stores text[], apps text[], projects text[], apple_ids bigint[], judges text[], counting boolean[]) TO deed_service;
REVOKE ALL ON FUNCTION deed.claim_orders(projects text[], environments text[], orders text[], customers text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION deed.claim_orders(projects text[], environments text[], orders text[], customers text[]) TO deed_service;
REVOKE ALL ON FUNCTION deed.claim_tokens(projects text[], environments text[], tokens text[], customers text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION deed.claim_tokens(projects text[], environments text[], tokens text[], customers text[]) TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.apps TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.customer_balances TO deed_service;
GRANT SELECT ON TABLE deed.balances TO deed_service;
GRANT SELECT,INSERT ON TABLE deed.certificates TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.customers TO deed_service;
GRANT SELECT ON TABLE deed.entitlements TO deed_service;
GRANT SELECT,INSERT ON TABLE deed.events TO deed_service;
GRANT SELECT,INSERT ON TABLE deed.evidence TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.holders TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.intake TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.keys TO deed_service;
GRANT SELECT ON TABLE deed.migrations TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.order_owners TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.orders TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.projects TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.purchases TO deed_service;
GRANT SELECT,UPDATE ON TABLE deed.shards TO deed_service;
GRANT SELECT ON TABLE deed.subscriptions TO deed_service;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE deed.tokens TO deed_service;
