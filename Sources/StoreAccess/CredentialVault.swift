package import Core
package import Crypto
internal import JSON

/// The table that contains sealed credentials.
package protocol CredentialTable: Sendable {
    func credentials(of app: StoreApp) throws(Fault) -> SealedCredentials?
    func credentials(of project: ProjectID) throws(Fault) -> [SealedCredentials]
    func allCredentials() throws(Fault) -> [SealedCredentials]
    /// Stores credentials as the next revision. Returns `false` if others were stored in the meantime.
    func putCredentials(_ sealed: SealedCredentials) throws(Fault) -> Bool
    /// Deletes an app's credentials that were written before the given version of its project's stream.
    func forgetCredentials(of app: StoreApp, before version: Int64) throws(Fault)
    /// Returns whether the database uses a test clock. Calls to a real store are then forbidden.
    func followsTestClock() throws(Fault) -> Bool
}

/// Stores apps' credentials, encrypted with a key that is not in the database.
package struct CredentialVault: Sendable {
    private static let purpose = "deed store credentials"
    private static let digestPurpose = "deed store credentials digest"
    private static let attempts = 5

    /// Returns the installation's keys. The first one seals, and the others only open. If no key exists
    /// and `making` is true, creates one, unless the database already contains sealed credentials.
    package typealias Keys = @Sendable (_ making: Bool) throws(KeyTrouble) -> [SecretKey]

    private let table: any CredentialTable
    private let profiles: [any StoreProfile]
    private let keys: Keys

    package init(
        _ table: any CredentialTable, of profiles: [any StoreProfile], keys: @escaping Keys
    ) {
        self.table = table
        self.profiles = profiles
        self.keys = keys
    }

    /// Returns an app's credentials, which are empty if it has none.
    package func credentials(of app: StoreApp) throws(StoreTrouble) -> StoreCredentials {
        let sealed = try rethrowing(as: StoreTrouble.fault, table.credentials(of: app))
        guard let sealed, !sealed.status.isEmpty else { return StoreCredentials() }
        return try rethrowing(as: { (_: KeyTrouble) in StoreTrouble.locked(app.key.id) }) {
            () throws(KeyTrouble) in try open(sealed, keys(false))
        }
    }

    /// Returns the apps whose stored credentials cannot be opened.
    package func lockedApps() throws(Fault) -> [StoreApp] {
        let kept = try table.allCredentials()
        if kept.isEmpty { return [] }
        let keys = (try? keys(false)) ?? []
        return kept.filter { (try? open($0, keys)) == nil }.map(\.app)
    }

    /// Changes an app's credentials. Does not overwrite credentials from a later event or, in a
    /// repeated call, credentials written since the first call. If the app has been removed, no
    /// older credentials survive. The log determines the order, because clocks differ.
    package func change(
        _ app: StoreApp, _ change: CredentialsChange, at write: CredentialsWrite, by actor: Actor,
        now: Instant
    ) throws(CommandError) -> CredentialsStatus {
        guard let profile = profiles.first(where: { $0.store == app.key.store }) else {
            throw .refused(.appUnknown(app.key.id))
        }
        let keys = try sealingKeys()
        for _ in 0..<CredentialVault.attempts {
            let old = try obtain(table.credentials(of: app))
            if let old, write.isLate(behind: old) { return old.status }
            let isLeft = old.map { $0.version >= write.appSince } ?? false
            let kept = try opened(
                isLeft ? old : nil, keys, isReplaced: change.replacesAll(of: profile))
            let changed = try proper(kept.changed(by: change), profile)
            let sealed = seal(
                changed, CredentialsStatus(changed, of: profile.credentials), of: app, keys,
                revision: old?.revision ?? 0, version: write.version, by: actor, now: now)
            if try obtain(table.putCredentials(sealed)) { return sealed.status }
        }
        throw .fault(.busy)
    }

    /// Returns a digest that is the same for equal changes. It reveals nothing about the change,
    /// because no database contains the key.
    package func digest(of change: CredentialsChange) throws(CommandError) -> [UInt8] {
        guard let key = try sealingKeys().first else {
            preconditionFailure("the keys include the key for sealing")
        }
        return key.derived(for: CredentialVault.digestPurpose).authenticate(change.json.bytes).bytes
    }

    /// Returns the visible properties of the credentials, for each app in a project.
    package func statuses(of project: ProjectID) throws(Fault) -> [AppKey: CredentialsStatus] {
        let kept = try table.credentials(of: project)
        return Dictionary(kept.map { ($0.app.key, $0.status) }) { first, _ in first }
    }

    /// Deletes an app's credentials that were written before the given version of its project's stream.
    package func forget(_ app: StoreApp, before version: Int64) throws(Fault) {
        try table.forgetCredentials(of: app, before: version)
    }

    private func sealingKeys() throws(CommandError) -> [SecretKey] {
        try rethrowing(
            as: { (trouble: KeyTrouble) in
                CommandError.refused(.credentialsLocked(trouble.sentence))
            }
        ) { () throws(KeyTrouble) in try keys(true) }
    }

    /// Seals all credentials again with the first key. Returns the number of apps whose credentials were sealed again.
    package func rotate(under keys: [SecretKey]) throws(CommandError) -> Int {
        var count = 0
        // Repeated, because credentials that change in the meantime may again be sealed with a different key.
        for _ in 0..<CredentialVault.attempts {
            let left = try obtain(table.allCredentials())
                .filter { $0.keyName != keys.first?.name }
            if left.isEmpty { return count }
            for old in left where try reseal(old, keys) { count += 1 }
        }
        throw .fault(.busy)
    }

    /// Seals one app's credentials again. Returns `false` if others were stored in the meantime.
    private func reseal(
        _ old: SealedCredentials, _ keys: [SecretKey]
    ) throws(CommandError) -> Bool {
        let kept = try opened(old, keys, isReplaced: false)
        let sealed = seal(
            kept, old.status, of: old.app, keys, revision: old.revision, version: old.version,
            by: old.changedBy, now: old.changedAt)
        return try obtain(table.putCredentials(sealed))
    }

    private func opened(
        _ sealed: SealedCredentials?, _ keys: [SecretKey], isReplaced: Bool
    ) throws(CommandError) -> StoreCredentials {
        guard let sealed else { return StoreCredentials() }
        do throws(KeyTrouble) {
            return try open(sealed, keys)
        } catch {
            // Credentials that can no longer be opened can still be replaced.
            if isReplaced { return StoreCredentials() }
            throw .refused(.credentialsLocked(error.sentence))
        }
    }

    private func proper(
        _ credentials: StoreCredentials, _ profile: any StoreProfile
    ) throws(CommandError) -> StoreCredentials {
        let proper = try rethrowing(
            as: { CommandError.refused(.credentialsInvalid($0)) }, profile.proper(credentials))
        if !proper.isEmpty, proper.address == nil, try obtain(table.followsTestClock()) {
            throw .refused(.realStoreOnTestClock)
        }
        return proper
    }

    private func seal(
        _ credentials: StoreCredentials, _ status: CredentialsStatus, of app: StoreApp,
        _ keys: [SecretKey], revision: Int64, version: Int64, by actor: Actor, now: Instant
    ) -> SealedCredentials {
        guard let key = keys.first else {
            preconditionFailure("the keys include the key for sealing")
        }
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
                    + "the installation; restore that key's file, or set all credentials again")
        }
        let bytes = key.derived(for: CredentialVault.purpose)
            .open(sealed.sealed, for: sealed.status.place(of: sealed.app))
        guard let bytes, let credentials = StoreCredentials(json: bytes, sealed.status.address)
        else {
            throw KeyTrouble(
                sentence: "the credentials of \(sealed.app.key.id) were changed in the database; "
                    + "set all credentials again")
        }
        return credentials
    }
}

extension CredentialsChange {
    /// Returns whether the change replaces all existing credentials.
    fileprivate func replacesAll(of profile: any StoreProfile) -> Bool {
        profile.credentials.allSatisfy { secrets[$0.name] != nil }
    }

    /// The change as JSON, which distinguishes removed members from unchanged ones.
    fileprivate var json: JSON {
        var object = JSONObject()
        for (name, secret) in secrets.sorted(by: { $0.key < $1.key }) {
            object.append(name, .optional(secret))
        }
        if let address { object.append("address", .optional(address?.url)) }
        return .object(object)
    }
}

extension CredentialsWrite {
    /// Returns whether the stored credentials were written by a later command, or by an earlier attempt of this one.
    fileprivate func isLate(behind kept: SealedCredentials) -> Bool {
        kept.version > version || isRepetition && kept.version == version
    }
}

extension CredentialsStatus {
    /// Returns the place to which an app's credentials are bound. They cannot be opened from the row of a different app
    /// or address.
    fileprivate func place(of app: StoreApp) -> [UInt8] {
        let parts = [app.project.text, app.key.store.rawValue, app.key.id.text, address?.url ?? ""]
        return Array(parts.joined(separator: "\u{0}").utf8)
    }
}

extension StoreCredentials {
    fileprivate var json: JSON {
        var object = JSONObject()
        for (name, secret) in secrets.sorted(by: { $0.key < $1.key }) {
            object.append(name, .string(secret))
        }
        return .object(object)
    }

    fileprivate init?(json bytes: [UInt8], _ address: StoreAddress?) {
        guard let members = (try? JSON.read(bytes))?.object?.members else { return nil }
        self.init(address: address)
        for member in members { secrets[member.name] = member.value.string }
    }
}
