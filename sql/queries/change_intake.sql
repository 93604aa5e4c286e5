-- 1 id, 2 revision that it must have, 3 state, 4 tries, 5 next try, 6 code, 7 sentence, 8 results,
-- 9 actor, 10 reason, 11 ticket, 12 now
update deed.intake set
    state = $3, tries = $4, next_try_at = coalesce($5, next_try_at), code = $6, sentence = $7,
    results = $8, actor = $9, reason = $10, ticket = $11, changed_at = $12,
    revision = revision + 1
where id = $1 and revision = $2
returning revision
