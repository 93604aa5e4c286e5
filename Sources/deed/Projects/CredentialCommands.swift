import AppStore
import Assembly
import Commands
import Core
import JSON

extension Option {
    /// What an app shows the store. Secrets come from files: what stands among the arguments is there for
    /// all users of the machine to read.
    static let credentials: [Option] = [
        .value("issuer-id", "UUID", "the issuer of the key, as App Store Connect shows it"),
        .value("key-id", "ID", "the key's id, as App Store Connect shows it"),
        .value("key-file", "FILE", "the key file as downloaded (.p8); - for standard input"),
        .value(
            "shared-secret-file", "FILE",
            "the app's shared secret, for legacy receipts; - for standard input"),
        .value(
            "store-url", "URL",
            "a store on this machine instead of the real one, like http://127.0.0.1:9090; none "
                + "removes it"),
        .flag("forget-credentials", "forget the app's key and shared secret for the store"),
    ]
}

let secretCommands = [rotateSecretCommand]

private let rotateSecretCommand = CommandSpec(
    path: ["secret", "rotate"],
    summary: "Replaces the installation's key with a new one.",
    options: [.secretKeyFile] + Option.database,
    example: "deed secret rotate"
) { invocation throws(CommandEnd) in
    try invocation.withLive { live throws(CommandEnd) in
        var count = 0
        let file = invocation.secretKeyFile
        try file.rotate { keys throws(CommandEnd) in
            count = try obey(live.store.vault.rotate(under: keys))
        }
        invocation.show(
            ["file": .string(file.path), "credentials": .integer(count)],
            text:
                "The credentials of \(count) apps are sealed with a new key in \(file.path). Copy "
                + "it to every machine that runs Deed over this database. Earlier keys stay beside "
                + "it, each as \(file.path).old.NAME: they prove the checkpoints that they signed. "
                + "Keep them for as long as those matter.")
    }
}

extension Invocation {
    /// A flag that is left out changes nothing.
    func credentialsChange() throws(CommandEnd) -> CredentialsChange {
        var change = CredentialsChange()
        if has("forget-credentials") {
            change.apiKey = .some(nil)
            change.sharedSecret = .some(nil)
            change.address = .some(nil)
        }
        let parts = [self["issuer-id"], self["key-id"], self["key-file"]]
        if parts.contains(where: { $0 != nil }) {
            guard let issuer = parts[0], let id = parts[1], let file = parts[2] else {
                throw usage("--issuer-id, --key-id and --key-file go together")
            }
            change.apiKey = StoreCredentials.APIKey(
                issuer: issuer.lowercased(), id: id, pem: try readFile(file))
        }
        if let file = self["shared-secret-file"] {
            if file == "-", self["key-file"] == "-" {
                throw usage("only one of --key-file and --shared-secret-file can be -")
            }
            change.sharedSecret = try readFile(file).trimmingLineEnds
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
    /// Editors end files with a line end that is not part of a secret.
    fileprivate var trimmingLineEnds: String {
        var text = self[...]
        while let last = text.last, last.isNewline { text.removeLast() }
        return String(text)
    }
}
