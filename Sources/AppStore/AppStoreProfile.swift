package import Core
internal import Crypto
internal import Evidence

/// Describes the App Store as one of the stores that Deed supports.
package struct AppStoreProfile: StoreProfile {
    package let store = Store.apple
    package let kinds = EvidenceKind.apple
    package let handIns = [
        HandIn("receipt", .appReceipt),
        HandIn("signed_transactions", .signedTransaction, isList: true),
        HandIn("app_transaction", .appTransaction),
        HandIn("signed_renewals", .renewalInfo, isList: true),
    ]
    package let steps: Set<ReconcileStep> = [.notifications, .history, .subscriptions]
    package let credentials = [
        CredentialMember(
            AppStoreKey.issuer, .key,
            help: ("UUID", "the issuer of the key, as App Store Connect shows it")),
        CredentialMember(
            AppStoreKey.id, .key, help: ("ID", "the key's id, as App Store Connect shows it")),
        CredentialMember(
            AppStoreKey.pem, .key, isSecret: true,
            help: ("FILE", "the key file as downloaded (.p8); - for standard input")),
        CredentialMember(
            AppStoreProfile.sharedSecret, .sharedSecret, isSecret: true,
            help: (
                "FILE", "the app's shared secret, for legacy receipts; - for standard input"
            )),
    ]
    package let appFlag = (name: "bundle-id", help: "the app's bundle id")
    package let console = "App Store Connect"
    package let addressCure =
        "App Store Connect has no server URL for notifications; enter https://HOST"
        + "/v1/stores/apple/notifications there, version 2."

    package let probes: [StoreProbe] = []

    static let sharedSecret = "shared_secret"

    package init() {}

    package func historyPause(in environment: Environment) -> Int64 {
        StoreBudget.histories(in: environment).pause / 1000
    }

    package func newsReach(in environment: Environment) -> Int64 {
        (environment == .production ? 180 : 30) * 86_400_000
    }

    package func foreign(_ app: AppID) -> RefusedEvidence {
        RefusedEvidence(
            code: "foreign_bundle_id",
            sentence: "The evidence was made for \(app), which is not a configured app.",
            cure: .settingTheApp)
    }

    package func proper(
        _ credentials: StoreCredentials
    ) throws(InvalidCredential) -> StoreCredentials {
        var proper = credentials
        if let issuer = credentials.secrets[AppStoreKey.issuer] {
            guard let token = AccountToken(issuer) else {
                throw InvalidCredential(
                    AppStoreKey.issuer,
                    "The issuer id must be the UUID that App Store Connect shows above the keys.")
            }
            proper.secrets[AppStoreKey.issuer] = token.text
        }
        if let id = credentials.secrets[AppStoreKey.id], !id.isKeyID {
            throw InvalidCredential(
                AppStoreKey.id,
                "The key id must be the 10 letters and digits that App Store Connect shows.")
        }
        if let pem = credentials.secrets[AppStoreKey.pem],
            pem.utf8.count > 10_000 || SigningKey(pem: Array(pem.utf8)) == nil
        {
            throw InvalidCredential(
                AppStoreKey.pem,
                "The key must be a file from App Store Connect: PKCS#8 in PEM, on the "
                    + "curve P-256, without a password.")
        }
        if let secret = credentials.secrets[AppStoreProfile.sharedSecret], !secret.isOneLine {
            throw InvalidCredential(
                AppStoreProfile.sharedSecret,
                "The shared secret must be 1 to 256 printable characters in one line.")
        }
        return proper
    }
}

/// A key for the App Store's API, taken from an app's credentials.
struct AppStoreKey: Hashable, Sendable {
    static let issuer = "issuer_id"
    static let id = "key_id"
    static let pem = "key"

    let issuer: String
    let id: String
    /// The key as downloaded, in PKCS#8 and PEM.
    let pem: String

    init?(_ credentials: StoreCredentials) {
        guard let issuer = credentials.secrets[AppStoreKey.issuer],
            let id = credentials.secrets[AppStoreKey.id],
            let pem = credentials.secrets[AppStoreKey.pem]
        else { return nil }
        (self.issuer, self.id, self.pem) = (issuer, id, pem)
    }
}

extension String {
    fileprivate var isKeyID: Bool {
        (1...64).contains(utf8.count)
            && utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0)
            }
    }

    fileprivate var isOneLine: Bool {
        (1...256).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
