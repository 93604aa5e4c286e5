import Assembly
import Commands
import Core
import Glibc
import HTTPServer
import Machine

/// Checks of the machine on which this command runs.
extension HealthCheck {
    static let dataFolder = one(
        "data_folder_missing", "the data folder", .warning
    ) { patient throws(CommandEnd) in
        let folder = patient.settings.dataFolder
        if fileExists(folder) || patient.settings.databaseURL == nil { return nil }
        return Finding(
            sentence:
                "\(folder) does not exist. Instances record there what they have seen of the log.",
            remedy: "Create it for the user who runs the service.",
            commands: [.shell("mkdir -p \(shellWord(folder))")],
            fix: { () throws(CommandEnd) in
                if mkdir(folder, 0o755) == 0 || errno == EEXIST { return }
                throw .fault("\(folder) cannot be created: \(systemReason)")
            })
    }

    static let dataFolderOwner = one(
        "data_folder_owner", "who may write into the data folder", .wrong
    ) { patient throws(CommandEnd) in
        let folder = patient.settings.dataFolder
        var found = stat()
        guard let user = patient.user, stat(folder, &found) == 0 else { return nil }
        // A service that root starts gives the ownership of root's folder to its own user.
        if found.st_uid == user.id || found.st_uid == 0 && geteuid() == 0 { return nil }
        if geteuid() != 0, access(folder, W_OK | X_OK) == 0 { return nil }
        return Finding(
            sentence: "\(folder) does not belong to \(user.name), who runs the service.",
            remedy: "As root, make that user the owner.",
            commands: [.shell("chown -R \(user.name) \(shellWord(folder))")])
    }

    static let seenFiles = one(
        "seen_unreadable", "what instances have recorded about the log", .wrong
    ) { patient throws(CommandEnd) in
        let folder = "\(patient.settings.dataFolder)/seen"
        guard let user = patient.user, fileExists(folder) else { return nil }
        let foreign = owners(in: folder).filter { $0.value != user.id }
        if foreign.isEmpty { return nil }
        return Finding(
            sentence:
                "\(foreign.count) files in \(folder) do not belong to \(user.name), the user who runs the service; an instance "
                + "that cannot read them stops working.",
            remedy: "As root, give them to that user.",
            commands: [.shell("chown -R \(user.name) \(shellWord(folder))")])
    }

    static let descriptors = one(
        "few_descriptors", "how many files may be open", .warning
    ) { patient throws(CommandEnd) in
        var limit = rlimit()
        let wanted =
            ((try? patient.invocation.integer("connections", in: 1...100_000)) ?? 4096) + 320
        guard getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_max < wanted
        else { return nil }
        return Finding(
            sentence:
                "At most \(limit.rlim_max) files may be open, but \(wanted) are needed: fewer connections will "
                + "be served.",
            remedy:
                "Raise the hard limit (LimitNOFILE= of systemd) where deed is started, or serve fewer connections.",
            commands: [.shell("export DEED_CONNECTIONS=\(max(1, Int(limit.rlim_max) - 320))")])
    }

    static let disk = one("disk_low", "free space on disk", .warning) {
        patient throws(CommandEnd) in
        let folder = patient.settings.dataFolder
        guard let free = freeBytes(in: folder), free <= 1_000_000_000 else { return nil }
        return Finding(
            sentence: "The disk that contains \(folder) has only \(bytesText(free)) free.",
            remedy:
                "Free some space, or move the folder to a larger disk: writes fail on a full disk."
        )
    }

    static let tlsFiles = HealthCheck("tls_unreadable", "the TLS files", .wrong) {
        patient throws(CommandEnd) in
        guard let certificate = patient.invocation["tls-certificate"],
            let key = patient.invocation["tls-key"]
        else { return [] }
        do throws(ServerError) {
            _ = try TLSFiles(certificate: certificate, key: key).certificateEnds()
            guard let user = patient.user else { return [] }
            return [certificate, key].filter { !isReadable($0, by: user) }.map { file in
                Finding(
                    sentence:
                        "\(user.name) cannot read \(file), so Deed cannot load a renewed certificate.",
                    remedy:
                        "As root, give the file to that user, and make the renewal do the same.",
                    commands: [.shell("chown \(user.name) \(shellWord(file))")])
            }
        } catch {
            return [
                Finding(
                    sentence: "\(error)",
                    remedy: "Put the certificate with its chain there, and the certificate's key.")
            ]
        }
    }

    static let tlsEnd = one("tls_ends", "when the TLS certificate expires", .warning) {
        patient throws(CommandEnd) in
        guard let certificate = patient.invocation["tls-certificate"],
            let key = patient.invocation["tls-key"],
            let end = try? TLSFiles(certificate: certificate, key: key).certificateEnds()
        else { return nil }
        let left = end - systemClock().milliseconds / 1000
        if left > 30 * 86_400 { return nil }
        return Finding(
            sentence: "The certificate in \(certificate) "
                + (left > 0 ? "expires in \(span(left * 1000))." : "has ended."),
            remedy: "Renew it. A running service reloads the files by itself.")
    }

    static let extraRoots = one(
        "extra_roots_unreadable", "the folder of --extra-roots", .wrong
    ) { patient throws(CommandEnd) in
        do throws(CommandEnd) {
            _ = try patient.invocation.extraRoots()
            return nil
        } catch {
            return Finding(
                sentence: error.sentence,
                remedy: "Put the certificates there, or leave --extra-roots out.")
        }
    }
}

/// Returns whether the file's permissions allow that user to read it.
private func isReadable(_ path: String, by user: ServiceUser) -> Bool {
    var found = stat()
    guard stat(path, &found) == 0 else { return false }
    if found.st_uid == user.id { return found.st_mode & 0o400 != 0 }
    return found.st_mode & (found.st_gid == user.group ? 0o040 : 0o004) != 0
}
