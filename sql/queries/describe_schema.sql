-- The schema, its tables, views and functions, and what the service and PUBLIC may do with them:
-- object, aspect, value. Other roles' rights are listed only if they go beyond reading.
with
-- The schema's owner owns everything in it.
schema as (select oid, nspowner as owner, nspacl as acl from pg_namespace where nspname = '{schema}'),
relation as (
    select c.oid, '{schema}.' || c.relname as name, c.relkind, c.relowner as owner, c.relpersistence,
        coalesce(c.relacl, acldefault('r', c.relowner)) as acl, c.reloptions,
        c.relrowsecurity or c.relforcerowsecurity as has_policies
    from pg_class as c join schema as s on c.relnamespace = s.oid
    where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
),
function as (
    select p.oid::regprocedure::text as name, p.proowner as owner,
        coalesce(p.proacl, acldefault('f', p.proowner)) as acl, p.prosecdef,
        pg_get_functiondef(p.oid) as definition
    from pg_proc as p join schema as s on p.pronamespace = s.oid
    where p.prokind in ('f', 'p')
),
-- Different servers format the same expression in different ways.
written as (
    select name, regexp_replace(
        pg_get_viewdef(oid), '(\m[a-z_]+\.(?=[a-z_"]))|[\s()"]', '', 'g') as text
    from relation where relkind = 'v'
),
given as (
    select 'schema deed' as object, owner, owner as schema_owner, acl, 'n' as kind from schema
    union all
    select r.name, r.owner, s.owner, r.acl, r.relkind::text from relation as r, schema as s
    union all
    select f.name, f.owner, s.owner, f.acl, 'function' from function as f, schema as s
    union all
    select r.name || '.' || a.attname, r.owner, s.owner, a.attacl, 'column'
    from relation as r join pg_attribute as a on a.attrelid = r.oid, schema as s
    where a.attacl is not null and not a.attisdropped
    union all
    select 'database', datdba, datdba, coalesce(datacl, acldefault('d', datdba)), 'database'
    from pg_database where datname = current_database()
),
rights as (
    select g.object, g.kind, case
            when a.grantee = 0 then 'PUBLIC' when r.rolname = 'deed_service' then 'deed_service'
            else r.rolname::text
        end as role, a.grantee = 0 or r.rolname = 'deed_service' as is_deeds,
        a.privilege_type || case when a.is_grantable then ' and to give it' else '' end as can
    from given as g cross join lateral aclexplode(g.acl) as a left join pg_roles as r on r.oid = a.grantee
    where a.grantee not in (g.owner, g.schema_owner)
)
select object, aspect, string_agg(value, ', ' order by value collate "C") from (
    select object, 'rights of ' || role as aspect, can as value from rights
    where case
        when kind = 'database' then is_deeds and can <> 'TEMPORARY' or role = 'PUBLIC'
        else is_deeds or can not in ('SELECT', 'USAGE', 'EXECUTE')
    end
    union all
    select g.object, 'owner', pg_get_userbyid(g.owner) from given as g
    where g.owner <> g.schema_owner and g.kind <> 'column'
    union all
    select name, 'kind', case relkind when 'r' then 'table' when 'v' then 'view' else relkind::text end
        || case relpersistence when 'p' then '' else ', ' || relpersistence::text end
        || case when has_policies then ', with policies' else '' end
    from relation
    union all
    select name, 'options', option from relation cross join lateral unnest(reloptions) as option
    where relkind <> 'r'
    union all
    select r.name, 'columns', a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || case when a.attnotnull then ' not null' else '' end
        || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    from relation as r join pg_attribute as a on a.attrelid = r.oid and a.attnum > 0
    left join pg_attrdef as d on d.adrelid = r.oid and d.adnum = a.attnum
    where r.relkind = 'r' and not a.attisdropped
    union all
    select name, 'query', encode(sha256(convert_to(text, 'UTF8')), 'hex') from written
    union all
    select r.name, 'constraint ' || c.conname, pg_get_constraintdef(c.oid)
    from relation as r join pg_constraint as c on c.conrelid = r.oid
    where c.contype in ('c', 'f', 'p', 'u', 'x')
    union all
    select r.name, 'unique index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
    from relation as r join pg_index as i on i.indrelid = r.oid
    where i.indisunique and not exists (select from pg_constraint as c where c.conindid = i.indexrelid)
    union all
    select r.name, 'trigger ' || t.tgname, pg_get_triggerdef(t.oid)
        || case t.tgenabled when 'O' then '' when 'A' then ', always' when 'D' then ', disabled'
            else ', ' || t.tgenabled::text end
    from relation as r join pg_trigger as t on t.tgrelid = r.oid where not t.tgisinternal
    union all
    select r.name, 'rule ' || w.rulename, encode(sha256(convert_to(pg_get_ruledef(w.oid), 'UTF8')), 'hex')
    from relation as r join pg_rewrite as w on w.ev_class = r.oid where w.rulename <> '_RETURN'
    union all
    select name, 'function', case when prosecdef then 'with the rights of its owner, ' else '' end
        || encode(sha256(convert_to(definition, 'UTF8')), 'hex')
    from function
    union all
    select '{schema}.' || t.typname, 'type', t.typtype::text
    from pg_type as t join schema as s on t.typnamespace = s.oid where t.typtype in ('d', 'e', 'r')
    union all
    select 'role deed_service', 'may', may from pg_roles
    cross join lateral unnest(array[
        case when rolsuper then 'anything' end, case when rolcanlogin then 'log in' end,
        case when rolcreaterole then 'make roles' end, case when rolcreatedb then 'make databases' end,
        case when rolreplication then 'replicate' end, case when rolbypassrls then 'bypass policies' end
    ]) as may
    where rolname = 'deed_service' and may is not null
    union all
    select 'role deed_service', 'member of', pg_get_userbyid(roleid)
    from pg_auth_members where member = (select oid from pg_roles where rolname = 'deed_service')
) as described (object, aspect, value)
group by object, aspect
order by object collate "C", aspect collate "C"
