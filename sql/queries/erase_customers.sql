-- What the rows of a person's tables do not lead to: the ids of orders, and the questions to stores. Comes before the
-- orders are taken away.
-- 1 shards, 2 projects, 3 environments, 4 customers
with gone as (
    select * from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])
        as gone (shard, project, environment, customer)
), questions as (
    delete from {schema}.history_questions
    where (customer, project, environment) in (select customer, project, environment from gone)
)
delete from {schema}.order_owners where (project, environment, order_id) in (
    select project, environment, order_id from {schema}.orders
    where (shard, project, environment, customer) in (table gone)
)
