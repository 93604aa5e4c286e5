-- Statements that insert the rows of the newest piece of evidence of a kind again, with new names where a
-- key needs them. The variable `kind` is transactions or notifications.
with newest as (
    select e.*
    from deed.events as e
    join deed.evidence as v on v.digest = e.evidence
    where v.kind like case when :'kind' = 'transactions' then '%transaction%' else '%notification%' end
    order by e.recorded_at desc limit 1
), sample (position, name, content) as (
    select 1, 'evidence', to_jsonb(v) from deed.evidence as v join newest as n on v.digest = n.evidence
    union all
    select 2, 'events', to_jsonb(n) from newest as n
    union all
    select 3, 'holders', to_jsonb(h) from deed.holders as h join newest as n
        on h.customer = n.customer and h.project = n.project and h.environment = n.environment
    union all
    select 4, 'customers', to_jsonb(c) from deed.customers as c join newest as n
        using (shard, project, environment, customer)
    union all
    select 5, 'purchases', to_jsonb(p) from deed.purchases as p join newest as n
        using (shard, project, environment, customer)
    union all
    select 6, 'unclaimed', to_jsonb(u) from deed.unclaimed as u
    join deed.holders as h using (project, environment, store, original)
    join newest as n
        on h.customer = n.customer and h.project = n.project and h.environment = n.environment
)
select format(
    'insert into deed.%I (%s) values (%s);', name, string_agg(quote_ident(key), ', '),
    string_agg(
        case
            when key = 'seq' then 'nextval(''plain'')'
            when key = 'customer' then '''buyer-'' || nextval(''plain'')'
            when key = 'original' then 'nextval(''plain'')::text'
            when name = 'evidence' and key = 'digest' then 'sha256(nextval(''plain'')::text::bytea)'
            -- pgbench takes a colon as the beginning of a variable's name, even within a string.
            when value like '%:%' then $$U&'$$ || replace(
                replace(replace(value, $$\$$, $$\\$$), $$'$$, $$''$$), ':', $$\003A$$) || $$'$$
            else quote_nullable(value)
        end, ', '))
from sample
cross join lateral jsonb_each_text(content)
group by position, name
order by position;
