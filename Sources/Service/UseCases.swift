/// What Deed can be asked to do, by subject. Each holds its own dependencies.
package struct UseCases: Sendable {
    package let ports: Ports
    package let ledger: any EventLog
    package let customers: Customers
    package let grants: Grants
    package let grantLists: GrantLists
    package let finds: Finds
    package let balances: CustomerBalances
    package let orders: Orders
    package let moves: Moves
    package let blocks: Blocks
    package let unclaimed: Unclaimed
    package let refunds: Refunds
    package let erasures: Erasures
    package let exports: Exports
    package let projects: Projects
    package let apps: Apps
    package let catalogs: Catalogs
    package let acceptance: LogAcceptance
    package let reconciliations: Reconciliations
    /// Only where requests can be sent.
    package var webhooks: Webhooks?

    package init(_ ports: Ports) {
        let (ledger, directory, secrets, now) = (
            ports.ledger, ports.directory, ports.secrets, ports.now
        )
        self.ports = ports
        self.ledger = ledger
        customers = Customers(ledger: ledger, reading: ports.reading, now: now)
        grants = Grants(secrets: secrets)
        grantLists = GrantLists(
            ledger: ledger, listing: ports.grants, reading: ports.reading, now: now)
        finds = Finds(ports)
        balances = CustomerBalances(ledger: ledger, secrets: secrets)
        orders = Orders(ledger: ledger, directory: directory, secrets: secrets, now: now)
        moves = Moves(ledger: ledger, secrets: secrets)
        blocks = Blocks(secrets: secrets)
        unclaimed = Unclaimed(ledger: ledger, directory: directory, secrets: secrets)
        refunds = Refunds(
            ledger: ledger, accounts: ports.accounts, reading: ports.reading, now: now)
        erasures = Erasures(ledger: ledger, log: ports.erasures, secrets: secrets, now: now)
        exports = Exports(
            customers: customers, log: ports.erasures, text: ports.evidenceText, now: now)
        projects = Projects(ledger: ledger, credentials: ports.credentials, secrets: secrets)
        apps = Apps(credentials: ports.credentials, secrets: secrets, now: now)
        catalogs = Catalogs(ledger: ledger, directory: directory, secrets: secrets, now: now)
        reconciliations = Reconciliations(ports)
        acceptance = LogAcceptance(ledger: ledger, directory: directory, secrets: secrets)
    }
}
