import Assembly
import Commands
import Core
import Ledger
import Wording

/// Checks of the schema and of the rights in it.
extension HealthCheck {
    static let schemaMissing = one(
        "schema_missing", "whether the database has the schema", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        if try patient.standing.get().migration != 0 { return nil }
        return Finding(
            sentence: "The database does not have Deed's schema.",
            remedy: "Create it with the owner's login.", commands: [.shell("deed migrate")])
    }

    static let schemaOutdated = one(
        "schema_outdated", "whether the schema is as new as this release", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        let found = try patient.standing.get().migration
        if found == 0 || found >= Schema.needed { return nil }
        return Finding(
            sentence:
                "The schema is at migration \(found), but this release needs \(Schema.needed).",
            remedy: "Back up the database, then migrate it with the owner's login.",
            commands: [.shell("deed migrate")])
    }

    static let schemaNewer = one(
        "schema_newer", "whether this release is as new as the schema", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        let standing = try patient.standing.get()
        let found = standing.migration
        guard standing.isNewer, standing.demand?.isMet != true else { return nil }
        return Finding(
            sentence:
                "The schema is at migration \(found), but this release knows only \(Schema.needed).",
            remedy: "Install the release that made it; docs/upgrading.md says how to go back.")
    }

    static let programOutdated = one(
        "program_outdated", "whether this release knows the log's format", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        guard let demand = try patient.standing.get().demand, demand.format > .own,
            let impediment = demand.impediment
        else { return nil }
        return Finding(
            sentence: impediment.withRemedy,
            remedy: "docs/upgrading.md says what the format is, and how to go back.")
    }

    static let formatPending = one(
        "format_pending", "whether the log has this release's format", .warning, needs: .schema
    ) { patient throws(CommandEnd) in
        guard let format = try patient.standing.get().pendingFormat else { return nil }
        return Finding(
            sentence:
                "The log's format is \(format.number), but this release knows \(LogFormat.own.number): calls whose events older "
                + "releases could not read are refused with format_pending.",
            remedy:
                "When every instance runs this release, raise the format with the owner's login. Older releases cannot "
                + "serve after that; see docs/upgrading.md.",
            commands: [.shell("deed migrate --format")])
    }

    static let serviceRole = one(
        "login_without_role", "whether the login may serve", .wrong, needs: .server
    ) { patient throws(CommandEnd) in
        let server = try patient.server.get()
        if !server.hasSchema || server.mayServe || server.isSuperuser { return nil }
        return Finding(
            sentence:
                "The login \(server.login) is not a member of deed_service, so it cannot serve.",
            remedy: "As an administrator, grant the membership.",
            commands: [.sql("grant deed_service to \(sqlName(server.login))")])
    }

    static let superuser = one(
        "login_superuser", "rights that the login should not have", .warning, needs: .server
    ) { patient throws(CommandEnd) in
        let server = try patient.server.get()
        if !server.isSuperuser || patient.settings.databaseURL == nil { return nil }
        return Finding(
            sentence:
                "The login \(server.login) is a superuser: anyone who takes over the service can change the log.",
            remedy:
                "Serve with a separate login (docs/operations.md), or remove that right.",
            commands: [.sql("alter role \(sqlName(server.login)) nosuperuser")])
    }

    static let owner = one(
        "login_owner", "whether the login owns the schema", .warning, needs: .server
    ) { patient throws(CommandEnd) in
        let server = try patient.server.get()
        if !server.hasSchema || !server.ownsSchema || server.isSuperuser { return nil }
        if patient.settings.databaseURL == nil { return nil }
        return Finding(
            sentence:
                "The login \(server.login) owns the schema: anyone who takes over the service can change the log.",
            remedy: "Serve with another login, and keep this one for deed migrate.",
            commands: [])
    }

    static let schemaChanged = HealthCheck(
        "schema_differs", "whether the schema is the one that the migrations create", .wrong,
        needs: .schema
    ) { patient throws(CommandEnd) in
        patient.differences.filter { !$0.isOutside }.prefix(10).map { difference in
            Finding(
                sentence: "\(difference.object), \(difference.aspect): should be "
                    + "\(difference.expected ?? "nothing") but is \(difference.found ?? "nothing").",
                remedy: "Find out who made the change, and undo it as the schema's owner.",
                commands: difference.statements.map(Advice.sql))
        }
    }

    static let databaseOpen = HealthCheck(
        "database_open", "which logins can reach the database", .warning, needs: .schema
    ) { patient throws(CommandEnd) in
        patient.differences.filter(\.isOutside).prefix(10).map { difference in
            let login = (try? patient.server.get().login) ?? "LOGIN"
            return Finding(
                sentence: "\(difference.object), \(difference.aspect): should be "
                    + "\(difference.expected ?? "nothing") but is \(difference.found ?? "nothing").",
                remedy: "With the owner's login, let only the service's login connect.",
                commands: difference.object == "database"
                    ? [
                        .shell(
                            patient.settings.databaseURL == nil
                                ? "deed migrate"
                                : "deed migrate --service-login \(shellWord(login))")
                    ] : difference.statements.map(Advice.sql))
        }
    }

    static let standbys = HealthCheck(
        "standbys_hidden", "whether the service sees which standby confirms", .warning,
        needs: .schema
    ) { patient throws(CommandEnd) in
        let database = try patient.database.get()
        let blind = try attempt { () throws(LedgerError) in
            var schema = Schema(database.serviceConnection)
            return try schema.blindToStandbys()
        }
        guard let blind else { return [] }
        return [
            Finding(
                sentence:
                    "Commits wait for a standby, but the service may not see which standby confirms them.",
                remedy: "As an administrator, give the schema's owner the right to see it.",
                commands: [.sql("grant pg_read_all_stats to \(sqlName(blind))")])
        ]
    }

    static let impediments = HealthCheck(
        "database_impeded", "whether anything keeps the database from working", .wrong,
        needs: .server
    ) { patient throws(CommandEnd) in
        if (try? patient.standing.get().error == nil) != true { return [] }
        return try patient.condition.get().impediments.map { impediment in
            Finding(
                sentence: impediment.withRemedy,
                remedy: "docs/operations.md explains \(impediment.kind.rawValue).")
        }
    }
}
