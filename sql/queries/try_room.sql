create temporary table deed_room on commit drop as
select repeat(md5(number::text), 32) as filler from generate_series(1, 1024) as number
