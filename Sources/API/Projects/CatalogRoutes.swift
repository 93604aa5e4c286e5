import CatalogFile
package import Core
import HTTPServer
import JSON
package import Service

/// Calls about the products that a project sells.
struct CatalogRoutes: Sendable {
    private static let bodyLimit = 1 << 20
    let catalogs: Catalogs

    var routes: [Route] {
        [
            Route("GET", "/catalog", .administer, .database, catalog),
            Route(
                "PUT", "/catalog", parameters: ["dry_run", "if_version"],
                bodyLimit: CatalogRoutes.bodyLimit, .administer, .database, replaceCatalog),
            Route("GET", "/products", .read, .database, products),
        ]
    }

    private func catalog(_ call: Call) throws(Problem) -> Response {
        .json(try read(call).json)
    }

    private func products(_ call: Call) throws(Problem) -> Response {
        .json(try read(call).productsJSON)
    }

    func read(_ call: Call) throws(Problem) -> CatalogAnswer {
        try obey(catalogs.catalog(of: call.access.project))
    }

    private func replaceCatalog(_ call: Call) throws(Problem) -> Wish<Response> {
        let isDryRun = try call.query.flag("dry_run")
        let basis = try call.query.optionalInteger("if_version", in: 0...Int64.max)
        let file = try contents(call.body, after: try read(call).catalog)
        let proposal = CatalogProposal(file.catalog, basis: basis)
        let project = call.access.project
        let step =
            isDryRun
            ? comparing(proposal, of: project)
            : catalogs.applying(proposal, to: project, by: call.sender)
        return counted(step, in: project, warnings: file.warnings)
    }

    func contents(_ bytes: [UInt8], after old: Catalog) throws(Problem) -> CatalogFile.Contents {
        try rethrowing(as: Problem.init) { () throws(InvalidCatalog) in
            try CatalogFile.read(bytes: bytes, after: old)
        }
    }

    func comparing(_ proposal: CatalogProposal, of project: ProjectID) -> Wish<CatalogStep> {
        .look { () throws(CommandError) in
            .answered(.success(try catalogs.compare(proposal, of: project)))
        }
    }

    /// Returns the answer about the step, with the customers who gain and lose access.
    func counted(
        _ step: Wish<CatalogStep>, in project: ProjectID, warnings: [CatalogProblem]
    ) -> Wish<Response> {
        let counted = step.thenLooking { step throws(CommandError) in
            (step, try catalogs.accessCounts(of: step, in: project))
        }
        return counted.response { step, counts in
            .json(step.json(counts, warnings: warnings))
        }
    }
}

extension CatalogProposal {
    /// Creates a proposal to use the catalog in its canonical form.
    package init(_ catalog: Catalog, basis: Int64?) {
        self.init(catalog: catalog, text: CatalogFile.json(catalog).text, basis: basis)
    }
}

extension Problem {
    /// Creates the problem for an invalid catalog, with the errors in it, up to the number that an
    /// answer lists.
    fileprivate init(_ invalid: InvalidCatalog) {
        let count = invalid.problems.count
        let listed = JSON.problems(invalid.problems)
        let rest = count > JSON.problemLimit ? " \"errors\" lists the first of them." : ""
        self.init(
            status: 400, code: "catalog_invalid",
            detail: "The catalog has \(count == 1 ? "one error" : "\(count) errors"); correct "
                + "\(count == 1 ? "it" : "them") and send it again.\(rest)",
            member: "body")
        extensions.append("errors", listed)
    }
}
