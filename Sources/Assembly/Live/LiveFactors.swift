package import Core
package import Crypto
import Ledger
import Service

/// The secrets of second factors, sealed with a key that is not in the database.
package struct FactorVault: Sendable {
    private static let purpose = "deed second factors"
    private static let attempts = 5

    let ledger: Ledger
    let keys: Outside.Keys

    /// Seals all secrets again with the first key. Returns the number of people with a second factor.
    package func rotate(under keys: [SecretKey]) throws(CommandError) -> Int {
        var count = 0
        for _ in 0..<FactorVault.attempts {
            let left = try obtain(ledger.secondFactors(of: nil))
                .filter { $0.secret.keyName != keys.first?.name }
            if left.isEmpty { return count }
            for old in left {
                guard let key = keys.first, let secret = FactorVault.open(old, keys) else {
                    throw .fault(
                        .broken(
                            "the second factor of \(old.person) opens with no key; restore the key "
                                + "that sealed it, or remove it with: deed person reset ADDRESS --second-factor"
                        ))
                }
                let place = SecondFactors.place(of: old.person)
                let sealed = FactorVault.seal(secret, for: place, key)
                if try obtain(ledger.reseal(old, as: sealed)) { count += 1 }
            }
        }
        throw .fault(.busy)
    }

    /// Returns the people whose second factor cannot be opened with the installation's keys.
    package func locked() throws(Fault) -> [PersonID] {
        let kept = try ledger.secondFactors(of: nil)
        if kept.isEmpty { return [] }
        let keys = (try? keys(false)) ?? []
        return kept.filter { FactorVault.open($0, keys) == nil }.map(\.person)
    }

    private static func open(_ factor: SealedFactor, _ keys: [SecretKey]) -> [UInt8]? {
        open(factor.secret.bytes, for: SecondFactors.place(of: factor.person), keys)
    }

    fileprivate static func open(
        _ sealed: [UInt8], for place: String, _ keys: [SecretKey]
    ) -> [UInt8]? {
        for key in keys {
            let opened = key.derived(for: purpose).open(sealed, for: Array(place.utf8))
            if let opened { return opened }
        }
        return nil
    }

    fileprivate static func seal(
        _ secret: [UInt8], for place: String, _ key: SecretKey
    ) -> SealedSecret {
        SealedSecret(
            bytes: key.derived(for: purpose).seal(secret, for: Array(place.utf8)),
            keyName: key.name)
    }

    private func ring(making: Bool) throws(Fault) -> [SecretKey] {
        try rethrowing(as: { (trouble: KeyTrouble) in Fault.broken(trouble.sentence) }) {
            () throws(KeyTrouble) in try keys(making)
        }
    }
}

extension FactorVault: SecondFactorSealing {
    package func seal(
        _ secret: [UInt8], for place: String
    ) throws(Fault) -> SealedSecret {
        guard let key = try ring(making: true).first else {
            preconditionFailure("keys come with the one to seal")
        }
        return FactorVault.seal(secret, for: place, key)
    }

    package func open(_ sealed: [UInt8], for place: String) throws(Fault) -> [UInt8]? {
        FactorVault.open(sealed, for: place, try ring(making: false))
    }

    package func code(of step: Int64, _ secret: [UInt8]) -> String {
        timeCode(of: step, secret)
    }
}
