-- Deletes the person's password, sessions and begun sign-ins, and replaces any earlier link.
-- $1 person, $2 digest of the link, $3 end
with ended as (
    delete from {schema}.sessions where person = $1::text
), begun as (
    delete from {schema}.begun_sign_ins where person = $1::text
), forgotten as (
    update {schema}.people set salt = null, password = null, cost = null where person = $1::text
)
insert into {schema}.person_links (person, digest, ends_at)
values ($1::text, $2::bytea, $3::bigint)
on conflict (person) do update set digest = excluded.digest, ends_at = excluded.ends_at
