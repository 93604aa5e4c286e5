package import Core
internal import Crypto

/// What evidence is checked against, apart from the roots: the accepted apps and environments, and the time.
package struct Terms: Sendable {
    package var apps: [TrustedApp]
    package var now: Instant
    /// How the evidence arrived, which decides between statements of the same age.
    package var rank: Rank
    /// For renewal info, which names no app, the app of the trusted evidence that came with it.
    package var companion: AppID?
    /// The device from which the evidence must come, if the caller knows it.
    package var device: DeviceID?
    /// The app version that a receipt must name, if the caller requires one.
    package var appVersion: String?

    package init(apps: [TrustedApp], now: Instant, rank: Rank) {
        self.apps = apps
        self.now = now
        self.rank = rank
    }

    /// How far a store's clock may be ahead of ours.
    static let clockTolerance: Int64 = 5 * 60 * 1000

    /// Refuses evidence whose certificates were not valid at the signing time, whose app or environment is not
    /// accepted, or whose root may not vouch for it.
    func require(
        _ statement: StoreStatement<Unverified>, under chain: VerifiedChain
    ) throws(EvidenceRefusal) {
        try requireNotInFuture(statement.signedAt)
        try chainChecked { () throws(ChainRefusal) in
            try chain.requireValidity(at: statement.signedAt.second)
        }
        try requireApp(statement)
        switch (chain.origin, statement.environment) {
        case (.extra, .production): throw .extraRootForProduction
        case (.pinned, _) where Environment.localNames.contains(statement.environmentName):
            throw .extraRootNeeded(statement.environmentName)
        default: return
        }
    }

    func requireNotInFuture(_ signedAt: Instant) throws(EvidenceRefusal) {
        if signedAt > now.advanced(byMilliseconds: Terms.clockTolerance) { throw .signedInFuture }
    }

    /// Refuses a receipt if its volume licence has ended.
    func requireLicence(_ statement: StoreStatement<Unverified>) throws(EvidenceRefusal) {
        if let end = statement.contents.licenceEnds, end <= now { throw .receiptExpired }
    }

    /// Checks the app. If the statement names none, checks its companion's app instead.
    func requireApp(_ statement: StoreStatement<Unverified>) throws(EvidenceRefusal) {
        guard let id = statement.app else { return }
        guard let app = apps.first(where: { $0.id == id }) else {
            throw statement.kind.store == .google
                ? .foreignPackage(id.text) : .foreignBundleID(id.text)
        }
        // The sandbox writes zero for an unknown number.
        if let expected = app.appleID, let stated = statement.appleID, stated != 0,
            stated != expected
        {
            throw .foreignAppID
        }
        if !app.environments.contains(statement.environment) {
            throw .foreignEnvironment(statement.environment)
        }
    }
}

/// A device's identifier in receipts: a vendor identifier or a Mac's network address.
package struct DeviceID: Hashable, Sendable {
    /// Sixteen bytes for a vendor identifier, or six bytes for a network address.
    package let bytes: [UInt8]

    /// Parses 32 or 12 hexadecimal digits in either case, with or without dashes or colons between them.
    package init?(_ text: String) {
        let digits = text.filter { $0 != "-" && $0 != ":" }
        guard let bytes = [UInt8](hex: digits), bytes.count == 16 || bytes.count == 6 else {
            return nil
        }
        self.bytes = bytes
    }

    /// The vendor identifier in lower case; `nil` if this is a network address.
    var vendorText: String? {
        guard bytes.count == 16 else { return nil }
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += [byte].hex
        }
        return text
    }
}
