package import Core

/// Brings customers up to date with a new catalog: rewrites their rows, publishes the access that the catalog gave or
/// removed, and credits purchases that waited for one of its products.
///
/// If a run ends early or fails, the next one continues. A fault in one customer, shard or project does not affect the
/// others.
package struct Reprojection: Sendable {
    private static let page = 500

    private let work: any UpkeepPort
    private let secrets: Secrets

    package init(_ work: any UpkeepPort, _ secrets: Secrets) {
        self.work = work
        self.secrets = secrets
    }

    /// Updates the customers of every project whose catalog has changed since the last projection. Returns the number
    /// of customers.
    package func project(
        while goesOn: () -> Bool = { true }, faulted: (ProjectID, Fault) -> Void,
        progress: (_ customers: Int) -> Void = { _ in }
    ) throws(Fault) -> Int {
        var count = 0
        for outdated in try work.outdatedProjects() {
            do throws(Fault) {
                var fault: Fault?
                for shard in Shard.all {
                    if !goesOn() { return count }
                    do throws(Fault) {
                        try project(outdated, in: shard) { result in
                            fault = fault ?? result.fault
                            count += result.fault == nil ? 1 : 0
                        }
                    } catch {
                        if error.isOfWholeDatabase { throw error }
                        fault = fault ?? error
                    }
                    progress(count)
                }
                if fault == nil {
                    try work.settle([outdated], at: .service, Command.concluding) {
                        fault = $1.fault
                    }
                }
                if let fault { throw fault }
            } catch {
                faulted(outdated.project, error)
            }
        }
        return count
    }

    private func project(
        _ outdated: OutdatedProject, in shard: Shard, each: (Result<Outcome, Fault>) -> Void
    ) throws(Fault) {
        // The cause is unique each time, because a customer whose rows become outdated again must be projected again.
        let text = "catalog:\(outdated.catalogVersion)/\(secrets.randomText(bytes: 10))"
        let cause = Cause(text: text, digest: secrets.digest(Array(text.utf8)))
        var last: Stream?
        while true {
            let page = try work.outdatedCustomers(
                of: outdated, in: shard, after: last, limit: Reprojection.page)
            try work.settle(page, at: .service, { .projecting($0, because: cause) }) { each($1) }
            if page.count < Reprojection.page { return }
            last = page.last
        }
    }
}
