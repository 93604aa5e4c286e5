import AppStore
import Core
import Crypto
package import Ledger

/// A key that a test can name.
package struct SecretKeyBytes: Sendable {
    let byte: UInt8

    package init(_ byte: UInt8) { self.byte = byte }

    var keys: [SecretKey] {
        [SecretKey([UInt8](repeating: byte, count: SecretKey.byteCount))].compactMap(\.self)
    }
}

extension CredentialVault {
    /// Over a ledger's table. Without a key it is locked.
    package init(
        _ ledger: Ledger, _ keys: [SecretKeyBytes], isTest: (@Sendable () -> Bool)? = nil
    ) {
        self.init(
            VaultPort(
                find: { app throws(Fault) in try ledger.credentials(of: app) },
                all: { () throws(Fault) in try ledger.allCredentials() },
                put: { sealed throws(Fault) in try ledger.putCredentials(sealed) },
                isTest: { () throws(Fault) in
                    if let isTest { return isTest() }
                    return try ledger.testClock() != nil
                },
                keys: { _ throws(KeyTrouble) in
                    let keys = keys.flatMap(\.keys)
                    if keys.isEmpty { throw KeyTrouble(sentence: "the file is not there") }
                    return keys
                }))
    }
}
