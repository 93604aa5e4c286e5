-- Statements that create the roles with rights in the schema, except superusers and this login.
-- $1 the schema's name
with recursive named (oid) as (
    select d.refobjid from pg_shdepend as d
    cross join lateral pg_identify_object(d.classid, d.objid, d.objsubid) as o
    where d.deptype = 'a' and $1::text in (o.schema, o.identity)
        and d.dbid = (select oid from pg_database where datname = current_database())
    union
    select m.member from pg_auth_members as m join named on m.roleid = named.oid
), wanted as (
    select oid, rolname, case when rolcanlogin then 'login' else 'nologin' end as kind
    from pg_roles join named using (oid)
    where not rolsuper and rolname <> session_user and rolname !~ '^pg_'
)
select 1, rolname::text, format('create role %I %s', rolname, kind) from wanted
union all
select distinct 2, role.rolname::text, format('grant %I to %I', role.rolname, member.rolname)
from pg_auth_members as m
join wanted as role on role.oid = m.roleid join wanted as member on member.oid = m.member
order by 1, 2, 3
