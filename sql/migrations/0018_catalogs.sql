-- Catalogs, each once, however many events name it by its digest. They are a part of the log: rows are only added.
create table deed.catalogs (
    digest bytea constraint catalogs_pkey primary key,
    -- The canonical form.
    content bytea not null check (octet_length(content) between 1 and 1048576),
    constraint catalogs_digest_check check (digest = sha256(content))
);
create trigger catalogs_only_grow before update or delete on deed.catalogs
    for each row execute function deed.refuse_change();
create trigger catalogs_are_not_emptied before truncate on deed.catalogs
    for each statement execute function deed.refuse_change();
alter table deed.catalogs enable always trigger catalogs_only_grow;
alter table deed.catalogs enable always trigger catalogs_are_not_emptied;

grant select, insert on deed.catalogs to deed_service;

-- The catalog is in its event, or lies under the digest that the event names.
create or replace view deed.products as
select p.project, coalesce(sold ->> 'store', 'apple') as store, sold ->> 'id' as product,
    sold ->> 'kind' as kind,
    array(select json_array_elements_text(sold -> 'entitlements')) as entitlements,
    sold -> 'credits' as credits, sold ->> 'duration' as duration, sold ->> 'stacking' as stacking,
    sold ->> 'group' as subscription_group, (sold ->> 'level')::bigint as level,
    coalesce((sold ->> 'family_shared')::boolean, true) as is_family_shared,
    p.catalog_version, deed.instant(newest.recorded_at) as since
from deed.projects as p
cross join lateral (
    select e.payload::json as payload, e.recorded_at
    from deed.events as e
    join deed.shards as s on s.shard = e.shard and e.seq <= s.head
    where e.customer = '$project/' and e.project = p.project and e.environment = 'production'
        and e.type = 'catalog.changed'
    order by e.version desc
    limit 1
) as newest
left join deed.catalogs as c on c.digest = decode(newest.payload ->> 'digest', 'hex')
cross join lateral json_array_elements(
    coalesce(newest.payload -> 'catalog', convert_from(c.content, 'UTF8')::json) -> 'products'
) as sold;
