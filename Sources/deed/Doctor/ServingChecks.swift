import Assembly
import Commands
import Core
import Ledger
import Service

/// Checks of the instances, their queues and the operator's regular tasks.
extension HealthCheck {
    static let noProject = one(
        "no_project", "whether there is a project", .warning, needs: .schema
    ) { patient throws(CommandEnd) in
        if !patient.projects.isEmpty { return nil }
        return Finding(
            sentence: "There is no project yet, so no call can succeed.",
            remedy: "Create one.", commands: [.shell("deed project create default")])
    }

    static let projectUnreadable = HealthCheck(
        "project_unreadable", "whether each project can be read", .wrong, needs: .schema
    ) { patient throws(CommandEnd) in
        patient.projects.filter { $0.state == nil }.map { listed, _ in
            Finding(
                sentence: "The project \(listed.project) cannot be read, so it is closed.",
                remedy:
                    "If a newer release wrote it, install that release. Otherwise, run the audit to see what was changed.",
                commands: [.shell("deed audit")])
        }
    }

    static let silentInstance = HealthCheck(
        "instance_silent", "whether each instance is running", .wrong, needs: .schema
    ) { patient throws(CommandEnd) in
        patient.instances.filter { !$0.isAlive }.compactMap { seen in
            guard let words = InstanceWords(seen) else { return nil }
            return Finding(
                sentence:
                    "The instance \(seen.name) on \(words.host) at \(words.listen) has been silent for "
                    + "\(span(seen.seenAgo)), and did not stop properly.",
                remedy: "Start it again. If it is gone for good, delete its row.",
                commands: [
                    .sql("delete from deed.instances where instance = '\(seen.name)'")
                ])
        }
    }

    static let unreadyInstance = HealthCheck(
        "instance_not_ready", "whether each instance is ready", .wrong, needs: .schema
    ) { patient throws(CommandEnd) in
        patient.instances.filter(\.isAlive).compactMap { seen in
            guard let words = InstanceWords(seen), let reason = words.reasons.first else {
                return nil
            }
            return Finding(
                sentence: "The instance \(seen.name) on \(words.host) is not ready: \(reason)",
                remedy: "Remove the cause; the instance then becomes ready by itself.")
        }
    }

    static let versions = one(
        "versions_differ", "whether all instances run the same version", .warning, needs: .schema
    ) { patient throws(CommandEnd) in
        let alive = patient.instances.filter(\.isAlive).compactMap { InstanceWords($0) }
        let versions = Set(alive.map(\.version)).union(alive.isEmpty ? [] : [Build.version])
        if versions.count < 2 { return nil }
        return Finding(
            sentence:
                "The instances and this program have different versions: \(versions.sorted().joined(separator: ", ")).",
            remedy: "Install the newest version everywhere, and restart older instances.")
    }

    static let unreadStreams = HealthCheck(
        "streams_unread", "whether instances can read all customers", .wrong, needs: .schema
    ) { patient throws(CommandEnd) in
        patient.instances.filter(\.isAlive).compactMap { seen in
            guard let words = InstanceWords(seen), words.unread > 0 else { return nil }
            return Finding(
                sentence:
                    "The instance \(seen.name) recently could not read \(words.unread) streams.",
                remedy:
                    "deed status --json lists them under unreadable; run the audit to see what was changed.",
                commands: [.shell("deed audit")])
        }
    }

    static let intake = one(
        "intake_stuck", "evidence that is waiting", .wrong, needs: .schema
    ) { patient throws(CommandEnd) in
        let stuck = try patient.condition.get().queue?.alarming ?? 0
        if stuck == 0 { return nil }
        return Finding(
            sentence: "\(stuck) pieces of evidence were tried many times and could not be judged.",
            remedy: "Find the reason and settle each piece (docs/intake.md).",
            commands: [.shell("deed intake list")])
    }

    static let backup = HealthCheck(
        "backup_late", "the last backup", .warning, needs: .schema
    ) { $0.lateness("backup", "backed up") }

    static let backupTried = HealthCheck(
        "backup_untried", "whether a backup was restored as a trial", .warning, needs: .schema
    ) { $0.lateness("backup_tried", "restored from a backup as a trial") }

    static let checkpoint = HealthCheck(
        "checkpoint_late", "the last checkpoint", .warning, needs: .schema
    ) { $0.lateness("checkpoint", "given a checkpoint") }

    static let audit = HealthCheck(
        "audit_late", "the last audit", .warning, needs: .schema
    ) { $0.lateness("audit", "audited in full") }
}
