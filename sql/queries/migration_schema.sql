create schema if not exists deed
