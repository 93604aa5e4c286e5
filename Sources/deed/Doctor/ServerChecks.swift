import Assembly
import Commands
import Core
import Ledger

/// Checks of PostgreSQL, its settings and its clock.
extension HealthCheck {
    static let databaseURL = one(
        "database_url", "the form of --database-url", .wrong
    ) { patient throws(CommandEnd) in
        guard case .failure(.refused("not_postgresql", let sentence)) = patient.database else {
            return nil
        }
        return Finding(
            sentence: sentence,
            remedy: "Correct DEED_DATABASE_URL, or unset it to use a private PostgreSQL.")
    }

    static let databaseMissing = one(
        "database_missing", "whether there is a database", .wrong
    ) { patient throws(CommandEnd) in
        guard case .failure(.refused("no_database", let sentence)) = patient.database else {
            return nil
        }
        return Finding(
            sentence: sentence, remedy: "Set the installation up.",
            commands: [
                .shell("deed setup --yes --data-dir \(shellWord(patient.settings.dataFolder))")
            ])
    }

    static let restoreUnfinished = one(
        "restore_unfinished", "whether a restore was cut short", .wrong
    ) { patient throws(CommandEnd) in
        guard case .failure(.refused("restore_unfinished", let sentence)) = patient.database else {
            return nil
        }
        return Finding(
            sentence: sentence, remedy: "Begin the restore again; it removes the incomplete data.")
    }

    static let databaseReachable = one(
        "database_unreachable", "whether PostgreSQL answers", .wrong
    ) { patient throws(CommandEnd) in
        guard case .failure(let end) = patient.server else { return nil }
        if case .failure(.refused) = patient.database { return nil }
        return Finding(
            sentence: end.sentence,
            remedy:
                "Start PostgreSQL, and check the address, login and password in DEED_DATABASE_URL."
        )
    }

    static let version = one(
        "postgres_version", "PostgreSQL's version", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        let found = try patient.server.get().version
        if found >= 150_000 { return nil }
        return Finding(
            sentence: "The server is PostgreSQL \(found / 10_000), but Deed needs 15 or newer.",
            remedy: "Upgrade the server with pg_upgrade, or restore a backup into a newer one.")
    }

    static let fsync = one(
        "fsync_off", "whether commits survive a power failure", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        if try patient.server.get().syncs { return nil }
        return Finding(
            sentence:
                "fsync is off: a crash of the machine loses acknowledged commits, or the whole database.",
            remedy: "Switch it on.",
            commands: [.sql("alter system set fsync = on"), .sql("select pg_reload_conf()")])
    }

    static let fullPages = one(
        "full_page_writes_off", "whether torn pages are repaired", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        if try patient.server.get().writesFullPages { return nil }
        return Finding(
            sentence: "full_page_writes is off: a crash of the machine can damage tables.",
            remedy: "Switch it on.",
            commands: [
                .sql("alter system set full_page_writes = on"), .sql("select pg_reload_conf()"),
            ])
    }

    static let autovacuum = one(
        "autovacuum_off", "whether tables are vacuumed", .warning, needs: .server
    ) { patient throws(CommandEnd) in
        if try patient.server.get().vacuums { return nil }
        return Finding(
            sentence: "autovacuum is off: tables grow, and statements become slow.",
            remedy: "Switch it on.",
            commands: [
                .sql("alter system set autovacuum = on"), .sql("select pg_reload_conf()"),
            ])
    }

    static let encoding = one(
        "encoding_wrong", "the database's encoding", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        let server = try patient.server.get()
        if server.encoding == "UTF8" { return nil }
        return Finding(
            sentence:
                "The database \(server.database) stores text as \(server.encoding), not as UTF8.",
            remedy:
                "Create a database with the encoding UTF8: create database … template template0 encoding 'UTF8'"
        )
    }

    static let readOnly = one(
        "database_read_only", "whether the database takes writes", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        let server = try patient.server.get()
        if !server.isReadOnlyByDefault { return nil }
        return Finding(
            sentence:
                "Transactions in \(server.database) are read-only by default.",
            remedy: "Change that default.",
            commands: [
                .sql("set default_transaction_read_only = off"),
                .sql(
                    "alter database \(sqlName(server.database)) reset default_transaction_read_only"
                ),
            ])
    }

    static let checksums = one(
        "checksums_off", "whether PostgreSQL notices a damaged disk", .warning, needs: .server
    ) { patient throws(CommandEnd) in
        if try patient.server.get().hasChecksums { return nil }
        return Finding(
            sentence:
                "The server's pages have no checksums: only an audit finds damage by the disk.",
            remedy: "Stop the server, and run: pg_checksums --enable --pgdata=FOLDER")
    }

    static let connections = one(
        "few_connections", "how many sessions PostgreSQL allows", .warning, needs: .server
    ) { patient throws(CommandEnd) in
        let server = try patient.server.get()
        let limits = [server.connections, server.loginLimit, server.databaseLimit].filter {
            $0 >= 0
        }
        let (wanted, allowed) = (Int64(20 * max(1, patient.instances.count)), limits.min() ?? 0)
        if allowed >= wanted { return nil }
        return Finding(
            sentence:
                "PostgreSQL allows \(allowed) sessions, but the instances may need \(wanted).",
            remedy: "Raise the limits for the login and the database, then max_connections.",
            commands: [
                .sql("alter role \(sqlName(server.login)) connection limit -1"),
                .sql("alter database \(sqlName(server.database)) connection limit -1"),
            ])
    }

    static let transactionAge = one(
        "transactions_old", "how old PostgreSQL's oldest transaction is", .warning, needs: .server
    ) { patient throws(CommandEnd) in
        let age = try patient.server.get().transactionAge
        if age < 1_000_000_000 { return nil }
        return Finding(
            sentence:
                "The oldest transaction is \(age) transactions old; at two billion, the server refuses writes.",
            remedy: "Vacuum every database of the server.",
            commands: [.shell("vacuumdb --all --freeze")])
    }

    static let clocks = one(
        "clock_apart", "whether this machine's clock agrees with PostgreSQL's", .wrong,
        needs: .server
    ) { patient throws(CommandEnd) in
        // Reads the time again, because other checks may have taken a while.
        let database = try patient.database.get()
        let begin = systemClock().milliseconds
        let shown = try attempt { () throws(LedgerError) in
            try ServerExamination.of(database.connection(role: nil))
        }?.clock.milliseconds
        guard let shown else { return nil }
        let apart = max(begin - shown, shown - systemClock().milliseconds)
        if apart < 2000 { return nil }
        return Finding(
            sentence:
                "This machine's clock and PostgreSQL's are \(span(apart)) apart; beyond 30 s, Deed writes nothing.",
            remedy: "Synchronise both with NTP, for example with: timedatectl set-ntp true")
    }
}
