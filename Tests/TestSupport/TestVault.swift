import Assembly
package import Core
import Crypto
package import Ledger
package import StoreAccess

/// A secret key for tests, which a number determines.
package struct SecretKeyBytes: Sendable {
    let byte: UInt8

    package init(_ byte: UInt8) { self.byte = byte }

    var keys: [SecretKey] {
        [SecretKey([UInt8](repeating: byte, count: SecretKey.byteCount))].compactMap(\.self)
    }
}

extension CredentialVault {
    /// Creates a vault over a ledger's table. Without keys, the vault is locked.
    package init(_ table: any CredentialTable, _ keys: [SecretKeyBytes]) {
        self.init(
            table, of: storeProfiles,
            keys: { _ throws(KeyTrouble) in
                let keys = keys.flatMap(\.keys)
                if keys.isEmpty { throw KeyTrouble(sentence: "the file is not there") }
                return keys
            })
    }
}

/// A ledger's table that does not report the test clock.
package struct ClocklessTable: CredentialTable {
    private let ledger: Ledger

    package init(_ ledger: Ledger) { self.ledger = ledger }

    package func credentials(of app: StoreApp) throws(Fault) -> SealedCredentials? {
        try ledger.credentials(of: app)
    }

    package func credentials(of project: ProjectID) throws(Fault) -> [SealedCredentials] {
        try ledger.credentials(of: project)
    }

    package func allCredentials() throws(Fault) -> [SealedCredentials] {
        try ledger.allCredentials()
    }

    package func putCredentials(_ sealed: SealedCredentials) throws(Fault) -> Bool {
        try ledger.putCredentials(sealed)
    }

    package func forgetCredentials(of app: StoreApp, before version: Int64) throws(Fault) {
        try ledger.forgetCredentials(of: app, before: version)
    }

    package func followsTestClock() -> Bool { false }
}
