internal import Core
internal import Crypto

extension StoreStatement where Trust == Unverified {
    /// Renames the transactions in a statement from Xcode, so that the names are unique to the developer's machine
    /// (docs/decisions/xcode.md). The names contain whole seconds because receipts are no more precise.
    func named(
        by signer: () throws(EvidenceRefusal) -> Certificate
    ) throws(EvidenceRefusal) -> Self {
        guard Environment.localNames.contains(environmentName) else { return self }
        let mark = String(try signer().fingerprint.hex.prefix(8))
        func name(
            _ id: TransactionID, at instant: Instant
        ) throws(EvidenceRefusal) -> TransactionID {
            do {
                return try TransactionID(ofXcode: id, signer: mark, second: instant.second)
            } catch {
                throw .invalidMember("transactionId")
            }
        }
        // All statements from one machine name the same account. The time of installation cannot
        // distinguish accounts, because only an app transaction could state it, so only the
        // certificate does.
        func account(_ id: AppTransactionID?) throws(EvidenceRefusal) -> AppTransactionID? {
            do {
                return try id.map { try AppTransactionID(ofXcode: $0, signer: mark) }
            } catch {
                throw .invalidMember("appTransactionId")
            }
        }
        var facts = contents.facts
        for index in facts.transactions.indices {
            let fact = facts.transactions[index]
            facts.transactions[index].transaction = try name(fact.transaction, at: fact.purchased)
            facts.transactions[index].original = try name(
                fact.original, at: fact.originallyPurchased ?? fact.purchased)
            facts.transactions[index].appTransaction = try account(fact.appTransaction)
        }
        for index in facts.apps.indices {
            facts.apps[index].appTransaction = try account(facts.apps[index].appTransaction)
        }
        // Renewal info identifies its purchase only by the start of the current run of periods. If that is a later run,
        // the renewal info matches no known purchase and changes nothing.
        let start = try contents.members.map(Members.init)?.instant("recentSubscriptionStartDate")
        if let start {
            for index in facts.renewals.indices {
                facts.renewals[index].original = try name(
                    facts.renewals[index].original, at: start)
            }
        } else {
            facts.renewals = []
        }
        return with(facts)
    }
}
