package import Core
package import Service

/// The service's directory, with a different list of apps.
package struct TappedDirectory: Directory {
    private let directory: any Directory
    private let list: @Sendable () throws(Fault) -> [ListedApp]

    package init(
        _ directory: any Directory, apps: @escaping @Sendable () throws(Fault) -> [ListedApp]
    ) {
        self.directory = directory
        list = apps
    }

    package func apps() throws(Fault) -> [ListedApp] { try list() }

    package func projects() throws(Fault) -> [ListedProject] { try directory.projects() }

    package func customers(
        of project: ProjectID, after last: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer] {
        try directory.customers(of: project, after: last, limit: limit)
    }

    package func liveKeys() throws(Fault) -> [LiveKey] { try directory.liveKeys() }

    package func owner(
        of order: OrderID, in project: ProjectID, _ environment: Environment
    ) throws(Fault) -> Stream? {
        try directory.owner(of: order, in: project, environment)
    }

    package func isReconciling() throws(Fault) -> Bool { try directory.isReconciling() }

    package func unclaimed(
        of project: ProjectID, _ environment: Environment, after last: PurchaseID?, limit: Int
    ) throws(Fault) -> [ListedUnclaimed] {
        try directory.unclaimed(of: project, environment, after: last, limit: limit)
    }
}
