package import Core
package import Crypto
internal import JSON

/// The stored signing keys and headers of webhooks.
package protocol WebhookTable: Sendable {
    /// Returns the secrets of one webhook. Without `id`, returns those of all webhooks in the project. Without
    /// `project`, returns those of all projects.
    func webhookSecrets(of project: ProjectID?, _ id: WebhookID?) throws(Fault) -> [SealedWebhook]
    /// Stores the next revision. Returns `false` if another one was stored in the meantime. A new
    /// webhook starts at the cursor.
    func putWebhookSecrets(_ sealed: SealedWebhook, from cursor: String?) throws(Fault) -> Bool
    func forgetWebhook(_ name: WebhookName) throws(Fault)
}

/// The keys and headers with which a webhook's messages are sent.
struct WebhookSecrets: Sendable {
    struct Key: Sendable {
        let number: Int64
        let secret: [UInt8]
        let seed: [UInt8]
        /// When the key stops signing, by the machine's clock; `nil` until a newer key exists.
        var until: Instant?
    }
    /// The keys, newest first.
    var keys: [Key]
    var headers: [(name: String, value: String)]

    func signing(at now: Instant) -> [Key] { keys.filter { $0.until.map { now < $0 } ?? true } }
}

/// The keys and headers of webhooks, encrypted with a key that is not in the database.
package struct WebhookVault: Sendable {
    private static let purpose = "deed webhook secrets"
    private static let digestPurpose = "deed webhook headers digest"
    private static let attempts = 5
    /// Returns the installation's keys. The first one seals. If no key exists and `making` is true, creates one.
    package typealias Keys = @Sendable (_ making: Bool) throws(KeyTrouble) -> [SecretKey]

    private let table: any WebhookTable
    private let keys: Keys

    package init(_ table: any WebhookTable, keys: @escaping Keys) {
        self.table = table
        self.keys = keys
    }

    /// Creates a webhook's first key. A repeated call returns the same key, or `nil` if the key has been replaced.
    package func open(
        _ name: WebhookName, _ headers: [WebhookHeader], version: Int64, from cursor: String
    ) throws(CommandError) -> WebhookKeys? {
        try change(name, version: version, from: cursor) { known in
            if known != nil { return nil }
            return WebhookSecrets(
                keys: [.fresh(1)], headers: headers.map { ($0.name, $0.value) })
        }
        return try shown(name, key: 1)
    }

    /// Replaces the headers, unless a later command has already replaced them.
    package func set(
        _ headers: [WebhookHeader], of name: WebhookName, version: Int64
    ) throws(CommandError) {
        try change(name, version: version) { known in
            guard var secrets = known else { return nil }
            secrets.headers = headers.map { ($0.name, $0.value) }
            return secrets
        }
    }

    /// Creates the key with the given number. Earlier keys continue to sign until the overlap ends. A webhook whose
    /// keys can no longer be opened gets new ones. A webhook whose creation was interrupted starts at the cursor.
    package func rotate(
        _ name: WebhookName, to number: Int64, version: Int64, from cursor: String,
        overlap: Int64, now: Instant
    ) throws(CommandError) -> WebhookKeys? {
        try change(name, version: version, from: cursor, replaces: true) { known in
            var secrets = known ?? WebhookSecrets(keys: [], headers: [])
            if secrets.keys.contains(where: { $0.number >= number }) { return nil }
            let end = now.advanced(byMilliseconds: overlap)
            secrets.keys = secrets.signing(at: now).map { key in
                var key = key
                key.until = min(key.until ?? end, end)
                return key
            }
            // Keeps the earlier keys. Each signs until the end of the period promised to the
            // receivers, however many keys there are.
            secrets.keys = [.fresh(number)] + secrets.keys
            return secrets
        }
        return try shown(name, key: number)
    }

    package func forget(_ name: WebhookName) throws(Fault) { try table.forgetWebhook(name) }

    /// Returns a digest that is the same for equal headers and reveals nothing about their values.
    package func digest(of headers: [WebhookHeader]) throws(CommandError) -> [UInt8] {
        let text = headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        let key = try sealingKeys()[0].derived(for: WebhookVault.digestPurpose)
        return key.authenticate(Array(text.utf8)).bytes
    }

    /// Returns the keys and headers with which the webhook's messages are sent, or `nil` if none are stored.
    func secrets(of name: WebhookName) throws(CommandError) -> WebhookSecrets? {
        guard let sealed = try obtain(table.webhookSecrets(of: name.project, name.id)).first else {
            return nil
        }
        return try unlocking { () throws(KeyTrouble) in try open(sealed, keys(false)) }
    }

    /// Seals all secrets again with the first key. Returns the number of webhooks.
    package func rotate(under keys: [SecretKey]) throws(CommandError) -> Int {
        var count = 0
        for _ in 0..<WebhookVault.attempts {
            let left = try obtain(table.webhookSecrets(of: nil, nil))
                .filter { $0.keyName != keys.first?.name }
            if left.isEmpty { return count }
            for old in left {
                let secrets = try unlocking { () throws(KeyTrouble) in try open(old, keys) }
                let sealed = seal(secrets, old.name, keys, revision: old.revision, old.version)
                if try obtain(table.putWebhookSecrets(sealed, from: nil)) { count += 1 }
            }
        }
        throw .fault(.busy)
    }

    /// Returns the webhooks whose stored secrets cannot be opened with the installation's keys.
    package func locked() throws(Fault) -> [WebhookName] {
        let kept = try table.webhookSecrets(of: nil, nil)
        if kept.isEmpty { return [] }
        let keys = (try? keys(false)) ?? []
        return kept.filter { (try? open($0, keys)) == nil }.map(\.name)
    }

    private func shown(_ name: WebhookName, key number: Int64) throws(CommandError) -> WebhookKeys?
    {
        guard let key = try secrets(of: name)?.keys.first, key.number == number else { return nil }
        return key.shown
    }

    private func change(
        _ name: WebhookName, version: Int64, from cursor: String? = nil, replaces: Bool = false,
        _ change: (WebhookSecrets?) -> WebhookSecrets?
    ) throws(CommandError) {
        let keys = try sealingKeys()
        for _ in 0..<WebhookVault.attempts {
            let old = try obtain(table.webhookSecrets(of: name.project, name.id)).first
            // If another command came later, its settings stay. For a rotation, the keys' numbers
            // decide instead.
            if let old, old.version > version, !replaces { return }
            var known: WebhookSecrets?
            do throws(KeyTrouble) {
                known = try old.map { sealed throws(KeyTrouble) in try open(sealed, keys) }
            } catch {
                if !replaces { throw .refused(.webhook(.locked(error.sentence))) }
            }
            guard let changed = change(known) else { return }
            let sealed = seal(
                changed, name, keys, revision: old?.revision ?? 0, max(version, old?.version ?? 0))
            if try obtain(table.putWebhookSecrets(sealed, from: cursor)) { return }
        }
        throw .fault(.busy)
    }

    private func sealingKeys() throws(CommandError) -> [SecretKey] {
        try unlocking { () throws(KeyTrouble) in try keys(true) }
    }

    private func unlocking<Value>(
        _ body: () throws(KeyTrouble) -> Value
    ) throws(CommandError) -> Value {
        try rethrowing(
            as: { (trouble: KeyTrouble) in
                CommandError.refused(.webhook(.locked(trouble.sentence)))
            }, body)
    }

    private func seal(
        _ secrets: WebhookSecrets, _ name: WebhookName, _ keys: [SecretKey], revision: Int64,
        _ version: Int64
    ) -> SealedWebhook {
        guard let key = keys.first else {
            preconditionFailure("the keys include the key for sealing")
        }
        return SealedWebhook(
            name,
            sealed: key.derived(for: WebhookVault.purpose).seal(
                secrets.json.bytes, for: name.place),
            keyName: key.name, revision: revision, version: version)
    }

    private func open(
        _ sealed: SealedWebhook, _ keys: [SecretKey]
    ) throws(KeyTrouble) -> WebhookSecrets {
        let id = sealed.name.id
        guard let key = keys.first(where: { $0.name == sealed.keyName }) else {
            throw KeyTrouble(
                sentence: "the secrets of \(id) were sealed with another key of the installation; "
                    + "restore that key's file, or create new secrets with: deed webhook rotate \(id)"
            )
        }
        let bytes = key.derived(for: WebhookVault.purpose).open(
            sealed.sealed, for: sealed.name.place)
        guard let bytes, let secrets = WebhookSecrets(json: bytes) else {
            throw KeyTrouble(
                sentence:
                    "the secrets of \(id) were changed in the database; create new secrets with: "
                    + "deed webhook rotate \(id)")
        }
        return secrets
    }
}

extension WebhookName {
    /// Binds secrets to their webhook, so that they cannot be opened in another webhook's row.
    fileprivate var place: [UInt8] { Array("\(project.text)\u{0}\(id.text)".utf8) }
}

extension WebhookSecrets.Key {
    static func fresh(_ number: Int64) -> WebhookSecrets.Key {
        WebhookSecrets.Key(
            number: number, secret: randomBytes(32), seed: randomBytes(Ed25519Key.seedCount))
    }

    var shown: WebhookKeys {
        WebhookKeys(
            secret: "whsec_" + base64(secret),
            publicKey: "whpk_" + base64(Ed25519Key(seed: seed)?.publicKey ?? []))
    }
}

func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
}

extension WebhookSecrets {
    fileprivate var json: JSON {
        [
            "keys": .array(
                keys.map { key in
                    [
                        "number": .integer(key.number), "secret": .string(base64(key.secret)),
                        "seed": .string(base64(key.seed)),
                        "until": key.until.map { .integer($0.milliseconds) } ?? .null,
                    ]
                }),
            "headers": .array(headers.map { .array([.string($0.name), .string($0.value)]) }),
        ]
    }

    fileprivate init?(json bytes: [UInt8]) {
        guard let json = try? JSON.read(bytes), let keys = json["keys"]?.array,
            let headers = json["headers"]?.array
        else { return nil }
        func decoded(_ json: JSON?) -> [UInt8]? {
            json?.string.flatMap { Base64.standard.decode(Array($0.utf8)) }
        }
        self.keys = keys.compactMap { key in
            guard let number = key["number"]?.integer, let secret = decoded(key["secret"]),
                let seed = decoded(key["seed"])
            else { return nil }
            return Key(
                number: number, secret: secret, seed: seed,
                until: key["until"]?.integer.map(Instant.init(milliseconds:)))
        }
        self.headers = headers.compactMap { header in
            guard let parts = header.array, parts.count == 2, let name = parts[0].string,
                let value = parts[1].string
            else { return nil }
            return (name, value)
        }
    }
}
