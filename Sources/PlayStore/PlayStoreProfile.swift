package import Core
internal import Evidence

/// Describes Google Play as one of the stores that Deed supports.
package struct PlayStoreProfile: StoreProfile {
    package let store = Store.google
    package let kinds = EvidenceKind.play
    package let handIns = [
        HandIn(
            "google", .playToken,
            .objects(
                of: [
                    HandInMember("package", mistake: \.packageMistake),
                    HandInMember("token", mistake: \.tokenMistake),
                    HandInMember("product", isRequired: false, mistake: \.productMistake),
                ], atMost: PlayStoreProfile.tokenLimit))
    ]
    package let steps: Set<ReconcileStep> = [.subscriptions]
    package let credentials = [
        CredentialMember(
            ServiceAccountKey.member, .key, isSecret: true,
            help: (
                "FILE",
                "the service account's key as Google Cloud issues it (JSON); - for standard "
                    + "input"
            ))
    ]
    package let appFlag = (name: "package", help: "the app's package name in Google Play")
    package let console = "the Play Console"
    package let addressCure = "Deed does not accept notifications from Google Play yet."
    package let probes = StoreProbe.allCases

    /// The maximum number of tokens in one call.
    package static let tokenLimit = 20

    package init() {}

    /// Google offers no history of notifications.
    package func historyPause(in environment: Environment) -> Int64 { 0 }
    package func newsReach(in environment: Environment) -> Int64 { 0 }

    package func foreign(_ app: AppID) -> RefusedEvidence {
        RefusedEvidence(
            code: "foreign_package",
            sentence: "No app of this project has the package \(app); add it with: deed app set "
                + "--package \(app)", cure: .settingTheApp)
    }

    package func proper(
        _ credentials: StoreCredentials
    ) throws(InvalidCredential) -> StoreCredentials {
        guard let file = credentials.secrets[ServiceAccountKey.member] else { return credentials }
        let key = try rethrowing(as: InvalidCredential.init) {
            () throws(ServiceAccountKey.Mistake) in try ServiceAccountKey(file: file)
        }
        guard let address = credentials.address else {
            if key.isOfGoogle { return credentials }
            throw InvalidCredential(
                ServiceAccountKey.member,
                "This key is from a practice store, but the app's store is Google: the operator sets such "
                    + "a key together with --store-url, and removes both with --forget-credentials."
            )
        }
        if key.tokenAddress == "\(address.url)/token" { return credentials }
        throw InvalidCredential(
            ServiceAccountKey.member,
            "The app's store is at \(address.url), but this key is not for that store: give Deed the "
                + "practice store's own file, or remove the address with --store-url none.")
    }
}

extension InvalidCredential {
    fileprivate init(_ mistake: ServiceAccountKey.Mistake) {
        let file =
            "the JSON file that the Google Cloud console issues for a service account's key"
        let sentence =
            switch mistake {
            case .notJSON: "It is not \(file)."
            case .otherType(let type): "It is of the type \"\(type.prefix(40))\", not \(file)."
            case .missing(let name): "It lacks \"\(name)\"; it must be \(file), unchanged."
            case .badKey:
                "Its \"private_key\" is not an RSA key in PEM without a password; it must be \(file), "
                    + "unchanged."
            case .foreignTokenAddress:
                "Its \"token_uri\" is neither Google's nor on this machine: another host would "
                    + "receive what the key signs. It must be \(file), unchanged."
            }
        self.init(ServiceAccountKey.member, sentence)
    }
}

extension String {
    private static let tokenBytes = 4096

    fileprivate var tokenMistake: String? {
        if isEmpty { return "is empty; send the purchase token as the app got it." }
        if utf8.count > Self.tokenBytes { return "is longer than \(Self.tokenBytes) bytes." }
        if !utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            return "contains a character that no purchase token has; send it as the app got it."
        }
        return nil
    }

    fileprivate var packageMistake: String? {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        let isName =
            parts.count > 1 && utf8.count <= 256
            && parts.allSatisfy { part in
                part.utf8.first.map(\.isLetter) ?? false
                    && part.utf8.allSatisfy {
                        $0.isLetter || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
                    }
            }
        return isName ? nil : "is not a package name like \"com.example.game\"."
    }

    fileprivate var productMistake: String? {
        do {
            _ = try ProductID(self)
            return nil
        } catch {
            return "\(error)."
        }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
