-- A row that already has these values counts as changed, because the reply to an earlier attempt may have been lost.
-- $1 id, $2 expected revision, $3 state, $4 tries, $5 next try, $6 code, $7 sentence, $8 results, $9 actor, $10 reason,
-- $11 ticket, $12 now
with changed as (
    update {schema}.intake set
        state = $3, tries = $4, next_try_at = coalesce($5, next_try_at), code = $6, sentence = $7,
        -- A refusal because of an erasure deletes the evidence.
        evidence = case
            when $3 = 'refused' and $6 in ('purchase_erased', 'done_before_erasure') then '\x00'::bytea
            else evidence
        end,
        results = $8, actor = $9, reason = $10, ticket = $11, changed_at = $12,
        revision = revision + 1
    where id = $1 and revision = $2
    returning revision
),
unchanged as (
    select revision from {schema}.intake
    where id = $1 and revision = $2 + 1 and state = $3 and tries = $4
        and next_try_at = coalesce($5, next_try_at)
        and (code, sentence, results, actor, reason, ticket, changed_at)
            is not distinct from ($6, $7, $8, $9, $10, $11, $12)
    -- Locks the row, as in find_added_intake.
    for update
)
select revision from changed
union all
select revision from unchanged
