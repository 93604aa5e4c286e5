import Assembly
import Commands
import Core
import Delivery
import Glibc
import Ledger
import Machine
import Service
import StoreAccess

/// Checks of the installation's key.
extension HealthCheck {
    static let keyMissing = one(
        "key_missing", "the installation's key", .wrong, needs: .schema
    ) { patient throws(CommandEnd) in
        let path = patient.keyFile.path
        if access(path, F_OK) == 0 || errno != ENOENT || !patient.hasSealed { return nil }
        return Finding(
            sentence:
                "\(path) is missing, but credentials or webhooks' secrets are sealed with a key.",
            remedy:
                "Restore the file. If it is lost for good, create a new key and check again.",
            commands: [.shell("deed secret rotate --lost")])
    }

    static let keyUnreadable = one(
        "key_unreadable", "who may read the installation's key", .wrong
    ) { patient throws(CommandEnd) in
        let file = patient.keyFile
        var found = stat()
        guard let user = patient.user, stat(file.path, &found) == 0, found.st_uid != user.id else {
            return nil
        }
        let sentence = "\(file.path) is unreadable by \(user.name), who runs the service."
        if file.isLink { return Finding(sentence: sentence, remedy: HealthCheck.linkRemedy) }
        return Finding(
            sentence: sentence, remedy: "As root, make that user the owner.",
            // If the file is replaced by a link before root pastes this, only the link changes.
            commands: [.shell("chown -h \(user.name) \(shellWord(file.path))")])
    }

    static let keyOpen = one(
        "key_open", "who else may read the installation's key", .wrong
    ) { patient throws(CommandEnd) in
        let file = patient.keyFile
        var found = stat()
        guard stat(file.path, &found) == 0, found.st_mode & 0o077 != 0 else { return nil }
        let sentence = "Users other than its owner may use \(file.path)."
        if file.isLink { return Finding(sentence: sentence, remedy: HealthCheck.linkRemedy) }
        let flag =
            patient.invocation.isWritten("secret-key-file")
            ? " --secret-key-file \(shellWord(file.path))" : ""
        return Finding(
            sentence: sentence, remedy: "Let only the file's owner read it.",
            // A pasted chmod would follow a link that has replaced the file in the meantime.
            commands: [.shell("deed doctor --only key_open --fix\(flag)")],
            fix: { () throws(CommandEnd) in try file.closeToOthers() })
    }

    /// Names no command, because the link may be another user's, and lead to a file that is not Deed's.
    private static let linkRemedy =
        "It is a symbolic link. Put the file itself in its place, readable only by the user who runs the service."

    static let keyMalformed = one(
        "key_malformed", "the content of the installation's key", .wrong
    ) { patient throws(CommandEnd) in
        let file = patient.keyFile
        guard access(file.path, R_OK) == 0 else { return nil }
        do throws(CommandEnd) {
            _ = try file.key(making: false)
            return nil
        } catch {
            // Other checks report other errors.
            let reasons = ["hexadecimal", "not a regular file", "symbolic link"]
            guard reasons.contains(where: { error.sentence.contains($0) }) else { return nil }
            return Finding(
                sentence: error.sentence,
                remedy:
                    "Restore the file. If the key is lost for good, move the file away and create a new key.",
                commands: [
                    .shell("mv -T \(shellWord(file.path)) \(shellWord(file.path)).damaged"),
                    .shell("deed secret rotate --lost"),
                ])
        }
    }

    static let keyOther = HealthCheck(
        "credentials_locked", "whether the installation's key opens the credentials", .wrong,
        needs: .schema
    ) { patient throws(CommandEnd) in
        guard access(patient.keyFile.path, F_OK) == 0, let live = patient.live else { return [] }
        return try ask(live.store.vault.lockedApps()).map { app in
            Finding(
                sentence:
                    "The credentials of \(app.key.id) in \(app.project) cannot be opened with the key in "
                    + "\(patient.keyFile.path).",
                remedy:
                    "Restore the key that sealed them. If it is lost, remove the credentials and set them again.",
                commands: [
                    .shell(
                        "deed app set --\(appFlag(of: app.key.store)) \(app.key.id) --project \(app.project) "
                            + "--forget-credentials")
                ])
        }
    }

    static let webhookKeys = HealthCheck(
        "webhook_locked", "whether the installation's key opens webhooks' secrets", .wrong,
        needs: .schema
    ) { patient throws(CommandEnd) in
        guard access(patient.keyFile.path, F_OK) == 0, let live = patient.live else { return [] }
        return try ask(live.webhooks.vault.locked()).map { webhook in
            Finding(
                sentence:
                    "The secrets of \(webhook.id) in \(webhook.project) cannot be opened with the key in "
                    + "\(patient.keyFile.path), so nothing is sent to the webhook.",
                remedy:
                    "Restore the key that sealed them. If it is lost, create new secrets and give them to the receiver.",
                commands: [.shell("deed webhook rotate \(webhook.id) --project \(webhook.project)")]
            )
        }
    }

    static let factorKeys = HealthCheck(
        "second_factor_locked", "whether the installation's key opens second factors", .wrong,
        needs: .schema
    ) { patient throws(CommandEnd) in
        guard access(patient.keyFile.path, F_OK) == 0, let live = patient.live else { return [] }
        let locked = try ask(live.factors.locked())
        if locked.isEmpty { return [] }
        return try ask(live.useCases.people.list()).filter { locked.contains($0.id) }.map {
            person in
            Finding(
                sentence:
                    "The second factor of \(person.id) does not open with the key in "
                    + "\(patient.keyFile.path), so this person cannot sign in with the app's codes.",
                remedy:
                    "Restore the key that sealed it; if it is lost, remove the second factor, and give the person the new link.",
                commands: [.shell("deed person reset \(person.email) --second-factor")])
        }
    }
}
