package import Core
package import Crypto
internal import JSON

/// What the vault needs of the world.
package struct VaultPort: Sendable {
    package var find: @Sendable (StoreApp) throws(Fault) -> SealedCredentials?
    package var all: @Sendable () throws(Fault) -> [SealedCredentials]
    /// Keeps credentials as the next revision; false when others were kept in between.
    package var put: @Sendable (SealedCredentials) throws(Fault) -> Bool
    /// Whether a real store may not be asked, because the database follows a test clock.
    package var isTest: @Sendable () throws(Fault) -> Bool
    /// The keys of the installation: the one to seal with first, and others that may open. One is made
    /// where there is none, if asked.
    package var keys: @Sendable (_ making: Bool) throws(KeyTrouble) -> [SecretKey]

    package init(
        find: @escaping @Sendable (StoreApp) throws(Fault) -> SealedCredentials?,
        all: @escaping @Sendable () throws(Fault) -> [SealedCredentials],
        put: @escaping @Sendable (SealedCredentials) throws(Fault) -> Bool,
        isTest: @escaping @Sendable () throws(Fault) -> Bool,
        keys: @escaping @Sendable (_ making: Bool) throws(KeyTrouble) -> [SecretKey]
    ) {
        self.find = find
        self.all = all
        self.put = put
        self.isTest = isTest
        self.keys = keys
    }
}

/// Keeps what apps show the store under a key that is not in the database.
package struct CredentialVault: Sendable {
    private static let purpose = "deed store credentials"
    private static let digestPurpose = "deed store credentials digest"
    private static let attempts = 5

    private let port: VaultPort

    package init(_ port: VaultPort) {
        self.port = port
    }

    /// An app's credentials; empty ones where it has none.
    package func credentials(of app: StoreApp) throws(StoreTrouble) -> StoreCredentials {
        let sealed = try rethrowing(as: StoreTrouble.fault, port.find(app))
        guard let sealed, !sealed.status.isEmpty else { return StoreCredentials() }
        return try rethrowing(as: { (_: KeyTrouble) in StoreTrouble.locked(app.key.id) }) {
            () throws(KeyTrouble) in try open(sealed, port.keys(false))
        }
    }

    /// The apps whose credentials are kept and cannot be opened.
    package func lockedApps() throws(Fault) -> [StoreApp] {
        let kept = try port.all()
        if kept.isEmpty { return [] }
        let keys = (try? port.keys(false)) ?? []
        return kept.filter { (try? open($0, keys)) == nil }.map(\.app)
    }

    /// What an app shows the store then. What a later event wrote stays, and so does what a repetition finds
    /// written since its twin. Nothing is left of an app that was removed in between. The log tells what was
    /// before: clocks differ.
    package func change(
        _ app: StoreApp, _ change: CredentialsChange, at write: CredentialsWrite, by actor: Actor,
        now: Instant
    ) throws(CommandError) -> CredentialsStatus {
        let keys = try keys()
        for _ in 0..<CredentialVault.attempts {
            let old = try obtain(port.find(app))
            if let old, write.isLate(behind: old) { return old.status }
            let isLeft = old.map { $0.version >= write.appSince } ?? false
            let kept = try opened(isLeft ? old : nil, keys, isReplaced: change.replacesAll)
            let changed = kept.changed(by: change)
            try require(changed)
            let sealed = seal(
                changed, of: app, keys, revision: old?.revision ?? 0,
                version: write.version, by: actor, now: now)
            if try obtain(port.put(sealed)) { return sealed.status }
        }
        throw .fault(.busy)
    }

    /// The same for the same change, and of no use to learn what is in it: the key is in no database.
    package func digest(of change: CredentialsChange) throws(CommandError) -> [UInt8] {
        guard let key = try keys().first else { preconditionFailure("keys come with one to seal") }
        return key.derived(for: CredentialVault.digestPurpose).authenticate(change.json.bytes).bytes
    }

    private func keys() throws(CommandError) -> [SecretKey] {
        do throws(KeyTrouble) {
            return try port.keys(true)
        } catch {
            throw .refused(.credentialsLocked(error.sentence))
        }
    }

    /// Keeps everything under the first key; gives how many apps' credentials that were.
    package func rotate(under keys: [SecretKey]) throws(CommandError) -> Int {
        var count = 0
        // Credentials that were changed in between may be sealed with another key again.
        for _ in 0..<CredentialVault.attempts {
            let left = try obtain(port.all())
                .filter { $0.keyName != keys.first?.name }
            if left.isEmpty { return count }
            for old in left where try reseal(old, keys) { count += 1 }
        }
        throw .fault(.busy)
    }

    /// False when others were kept in between.
    private func reseal(
        _ old: SealedCredentials, _ keys: [SecretKey]
    ) throws(CommandError) -> Bool {
        let kept = try opened(old, keys, isReplaced: false)
        let sealed = seal(
            kept, of: old.app, keys, revision: old.revision, version: old.version,
            by: old.changedBy, now: old.changedAt)
        return try obtain(port.put(sealed))
    }

    private func opened(
        _ sealed: SealedCredentials?, _ keys: [SecretKey], isReplaced: Bool
    ) throws(CommandError) -> StoreCredentials {
        guard let sealed else { return StoreCredentials() }
        do throws(KeyTrouble) {
            return try open(sealed, keys)
        } catch {
            // Credentials that cannot be opened any more may still be replaced.
            if isReplaced { return StoreCredentials() }
            throw .refused(.credentialsLocked(error.sentence))
        }
    }

    private func require(_ credentials: StoreCredentials) throws(CommandError) {
        if let mistake = credentials.mistake { throw .refused(.credentialsInvalid(mistake)) }
        if let key = credentials.apiKey, SigningKey(pem: Array(key.pem.utf8)) == nil {
            throw .refused(.credentialsInvalid(.key))
        }
        if credentials.isEmpty || credentials.address != nil { return }
        if try obtain(port.isTest()) {
            throw .refused(.realStoreOnTestClock)
        }
    }

    private func seal(
        _ credentials: StoreCredentials, of app: StoreApp, _ keys: [SecretKey], revision: Int64,
        version: Int64, by actor: Actor, now: Instant
    ) -> SealedCredentials {
        guard let key = keys.first else { preconditionFailure("keys come with the one to seal") }
        let status = CredentialsStatus(credentials)
        return SealedCredentials(
            app: app,
            sealed: key.derived(for: CredentialVault.purpose)
                .seal(credentials.json.bytes, for: status.place(of: app)),
            keyName: key.name, status: status, revision: revision, version: version,
            changedAt: now, changedBy: actor)
    }

    private func open(
        _ sealed: SealedCredentials, _ keys: [SecretKey]
    ) throws(KeyTrouble) -> StoreCredentials {
        if sealed.status.isEmpty { return StoreCredentials() }
        guard let key = keys.first(where: { $0.name == sealed.keyName }) else {
            throw KeyTrouble(
                sentence:
                    "the credentials of \(sealed.app.key.id) were sealed with another key of "
                    + "the installation; restore its file, or set all of them again")
        }
        let bytes = key.derived(for: CredentialVault.purpose)
            .open(sealed.sealed, for: sealed.status.place(of: sealed.app))
        guard let bytes, let credentials = StoreCredentials(json: bytes, sealed.status.address)
        else {
            throw KeyTrouble(
                sentence: "the credentials of \(sealed.app.key.id) were changed in the database; "
                    + "set all of them again")
        }
        return credentials
    }
}

extension CredentialsChange {
    /// Whether nothing of what was there stays.
    fileprivate var replacesAll: Bool { apiKey != nil && sharedSecret != nil }

    /// Tells what is taken away from what stays.
    fileprivate var json: JSON {
        var object = JSONObject()
        if let apiKey {
            object.append(
                "key", .array([apiKey?.issuer, apiKey?.id, apiKey?.pem].map(JSON.optional)))
        }
        if let sharedSecret { object.append("shared_secret", .optional(sharedSecret)) }
        if let address { object.append("address", .optional(address?.url)) }
        return .object(object)
    }
}

extension CredentialsWrite {
    /// Whether a later command has won, or an earlier twin.
    fileprivate func isLate(behind kept: SealedCredentials) -> Bool {
        kept.version > version || isRepetition && kept.version == version
    }
}

extension CredentialsStatus {
    /// What credentials are sealed to: a row that is moved to another app, or to another address, opens
    /// nothing.
    fileprivate func place(of app: StoreApp) -> [UInt8] {
        let parts = [app.project.text, app.key.store.rawValue, app.key.id.text, address?.url ?? ""]
        return Array(parts.joined(separator: "\u{0}").utf8)
    }
}

extension StoreCredentials {
    fileprivate var json: JSON {
        [
            "issuer_id": .optional(apiKey?.issuer), "key_id": .optional(apiKey?.id),
            "key": .optional(apiKey?.pem), "shared_secret": .optional(sharedSecret),
        ]
    }

    fileprivate init?(json bytes: [UInt8], _ address: StoreAddress?) {
        guard let json = try? JSON.read(bytes) else { return nil }
        self.init(sharedSecret: json["shared_secret"]?.string, address: address)
        if let issuer = json["issuer_id"]?.string, let id = json["key_id"]?.string,
            let pem = json["key"]?.string
        {
            apiKey = APIKey(issuer: issuer, id: id, pem: pem)
        }
    }
}
