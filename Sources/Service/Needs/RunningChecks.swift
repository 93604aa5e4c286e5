import Core

extension ProjectCheck {
    private static let longestNight: Int64 = 36 * 3_600_000

    static let sandbox = ProjectCheck("sandbox_for_all", "whose sandbox purchases count") { sight in
        if sight.isForTests { return [] }
        return sight.state.apps.filter { $0.sandboxAccess == .all }.map { app in
            Finding(
                sentence:
                    "Sandbox purchases of the app \(app.key.id) of \(sight.project) count for all customers: each "
                    + "tester gets for free what customers pay for.",
                remedy: .limitSandbox(sight.named(app)))
        }
    }

    static let storeHere = ProjectCheck(
        "store_on_this_machine", "the address of each app's store"
    ) { sight in
        if sight.isForTests { return [] }
        return sight.state.apps.filter { sight.credentials[$0.key]?.address != nil }.map { app in
            Finding(
                sentence:
                    "For the app \(app.key.id) of \(sight.project), Deed asks a store on this machine instead of the real "
                    + "one.",
                remedy: .removePracticeStore(sight.named(app)))
        }
    }

    static let soundness = ProjectCheck(
        "reconciliation_unsound", "how each project's reconciliation ended", isWrong: true
    ) { sight in
        guard sight.state.isSound == false else { return [] }
        let reasons =
            sight.state.reconciliations.last { $0.finished?.isSound == false }?
            .finished?.reasons ?? []
        return [
            Finding(
                sentence: "The last reconciliation of \(sight.project) was not sound. "
                    + reasons.prefix(2).joined(separator: " "),
                remedy: .reconcileAgain(sight.project))
        ]
    }

    static let night = ProjectCheck(
        "reconciliation_late", "each project's last nightly reconciliation"
    ) { sight in
        let since = sight.state.unreconciledSince(by: sight.now)
        if sight.isForTests || sight.now.milliseconds - since.milliseconds < longestNight {
            return []
        }
        return [
            Finding(
                sentence:
                    "The project \(sight.project) was last reconciled, or created, more than 36 hours ago "
                    + "(\(since.text)).",
                remedy: .reconcileNightly(sight.project))
        ]
    }
}
