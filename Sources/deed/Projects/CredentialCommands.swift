import Assembly
import Commands
import Core
import Delivery
import JSON
import StoreAccess

extension Option {
    /// The flags for an app's credentials. Secrets are read from files, because every user of the machine can see
    /// arguments.
    static let credentials: [Option] =
        storeProfiles.flatMap(\.credentials).map { .value($0.flag, $0.help.value, $0.help.text) }
        + [
            .value(
                "store-url", "URL",
                "a store on this machine to use instead of the real one, such as http://127.0.0.1:9090; "
                    + "\"none\" returns to the real store"),
            .flag("forget-credentials", "forget the app's key and shared secret for the store"),
        ]
}

extension CredentialMember {
    fileprivate var flag: String {
        name.replacing("_", with: "-") + (isSecret ? "-file" : "")
    }
}

let secretCommands = [rotateSecretCommand]

private let rotateSecretCommand = CommandSpec(
    path: ["secret", "rotate"],
    summary: "Replaces the installation's key with a new one.",
    options: [
        .flag(
            "lost", "create a key to replace a lost one; credentials must then be set again"
        ),
        .secretKeyFile,
    ] + Option.database,
    example: "deed secret rotate"
) { invocation throws(CommandEnd) in
    if invocation.has("lost") { return try invocation.replaceLostKey() }
    try invocation.withLive { live throws(CommandEnd) in
        var (count, webhooks, factors) = (0, 0, 0)
        let file = invocation.secretKeyFile
        try file.rotate { keys throws(CommandEnd) in
            count = try obey(live.store.vault.rotate(under: keys))
            webhooks = try obey(live.webhooks.vault.rotate(under: keys))
            factors = try obey(live.factors.rotate(under: keys))
        }
        invocation.show(
            [
                "file": .string(file.path), "credentials": .integer(count),
                "webhooks": .integer(webhooks), "second_factors": .integer(factors),
            ],
            text:
                "The credentials of \(count) apps, the secrets of \(webhooks) webhooks and the second factors of \(factors) "
                + "people are sealed with a new key in \(file.path). Copy the key to every machine that runs Deed with this "
                + "database. Earlier keys stay next to it as \(file.path).old.NAME: they verify the checkpoints that they "
                + "signed. Keep them as long as you need those checkpoints.")
    }
}

extension Invocation {
    fileprivate func replaceLostKey() throws(CommandEnd) {
        let file = secretKeyFile
        if fileExists(file.path) {
            throw .refused(
                code: "key_there",
                sentence: "\(file.path) exists; to replace that key, leave --lost out.")
        }
        try withLive { live throws(CommandEnd) in
            _ = try file.key(making: true)
            let locked =
                try ask(live.store.vault.lockedApps()).map(\.key.id.text)
                + ask(live.webhooks.vault.locked()).map(\.id.text)
                + ask(live.factors.locked()).map(\.text)
            let names = locked.isEmpty ? "none" : locked.joined(separator: ", ")
            show(
                ["file": .string(file.path), "locked": .array(locked.map(JSON.string))],
                text:
                    "A new key is in \(file.path). Apps, webhooks and people that need new secrets, according to deed doctor: "
                    + names)
        }
    }

    /// Returns the change described by the flags. Missing flags leave their settings unchanged.
    func credentialsChange(of store: Store) throws(CommandEnd) -> CredentialsChange {
        let members = storeProfiles.filter { $0.store == store }.flatMap(\.credentials)
        let foreign = storeProfiles.filter { $0.store != store }.flatMap(\.credentials)
        if let other = foreign.first(where: { self[$0.flag] != nil }) {
            throw usage("--\(other.flag) is not for apps of the store \(store.rawValue)")
        }
        var change = CredentialsChange()
        if has("forget-credentials") {
            for member in members { change.secrets[member.name] = .some(nil) }
            change.address = .some(nil)
        }
        let given = members.filter { self[$0.flag] != nil }
        let key = members.filter { $0.part == .key }
        let missing = key.filter { self[$0.flag] == nil }
        if !missing.isEmpty, missing.count < key.count {
            throw usage("\(key.flags) go together")
        }
        let piped = given.filter { $0.isSecret && self[$0.flag] == "-" }
        if piped.count > 1 { throw usage("only one of \(piped.flags) can read standard input (-)") }
        for member in given {
            let value = self[member.flag] ?? ""
            change.secrets[member.name] =
                member.isSecret ? try readFile(value).trimmingLineEnds : value
        }
        if let text = self["store-url"] { change.address = .some(try storeAddress(text)) }
        return change
    }

    private func storeAddress(_ text: String) throws(CommandEnd) -> StoreAddress? {
        if text == "none" { return nil }
        guard let address = StoreAddress(text) else {
            throw usage(
                "--store-url must be http://127.0.0.1:PORT or http://[::1]:PORT, a store on this "
                    + "machine, or none")
        }
        return address
    }
}

extension String {
    /// The text without the line break that editors add, which is not part of the secret.
    var trimmingLineEnds: String {
        var text = self[...]
        while let last = text.last, last.isNewline { text.removeLast() }
        return String(text)
    }
}

extension [CredentialMember] {
    fileprivate var flags: String {
        let flags = map { "--\($0.flag)" }
        return flags.dropLast().joined(separator: ", ") + " and " + (flags.last ?? "")
    }
}
