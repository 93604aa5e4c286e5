create table if not exists {schema}.migrations (
    number integer primary key,
    name text not null,
    digest bytea not null,
    applied_at bigint not null
)
