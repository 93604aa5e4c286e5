/// Everything that Deed can be asked to do, grouped by subject. Each group holds its own
/// dependencies.
package struct UseCases: Sendable {
    package let ports: Ports
    package let ledger: any EventLog
    package let customers: Customers
    package let grants: Grants
    package let grantLists: GrantLists
    package let notes: Notes
    package let finds: Finds
    package let figures: Figures
    package let balances: CustomerBalances
    package let orders: Orders
    package let moves: Moves
    package let merges: Merges
    package let blocks: Blocks
    package let unclaimed: Unclaimed
    package let refunds: Refunds
    package let erasures: Erasures
    package let exports: Exports
    package let proofs: Proofs
    package let projects: Projects
    package let keyLists: KeyLists
    package let trails: Trails
    package let people: People
    package let signIns: SignIns
    package let apps: Apps
    package let catalogs: Catalogs
    package let acceptance: LogAcceptance
    package let reconciliations: Reconciliations
    /// `nil` if this instance cannot send requests.
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
        notes = Notes(ledger: ledger, secrets: secrets)
        finds = Finds(ports)
        figures = Figures(ledger: ledger, reading: ports.figures)
        balances = CustomerBalances(ledger: ledger, secrets: secrets)
        orders = Orders(ledger: ledger, directory: directory, secrets: secrets, now: now)
        moves = Moves(ledger: ledger, secrets: secrets)
        merges = Merges(ledger: ledger, secrets: secrets)
        blocks = Blocks(secrets: secrets)
        unclaimed = Unclaimed(ledger: ledger, directory: directory, secrets: secrets)
        refunds = Refunds(
            ledger: ledger, accounts: ports.accounts, reading: ports.reading, now: now)
        erasures = Erasures(ledger: ledger, log: ports.erasures, secrets: secrets, now: now)
        exports = Exports(
            customers: customers, log: ports.erasures, reading: ports.evidence, now: now)
        proofs = Proofs(exports: exports, naming: ports.naming)
        projects = Projects(ledger: ledger, credentials: ports.credentials, secrets: secrets)
        keyLists = KeyLists(ledger: ledger, using: ports.keyUsing, now: now)
        trails = Trails(
            ledger: ledger, keeping: ports.trail, reading: ports.reading, now: now)
        let factors = SecondFactors(
            keeping: ports.factors, sealing: ports.sealing, secrets: secrets,
            machineClock: ports.machineClock)
        people = People(
            keeping: ports.people, passwords: ports.passwords, sessions: ports.sessions,
            factors: factors, secrets: secrets, machineClock: ports.machineClock)
        signIns = SignIns(
            ports.passwords, ports.sessions, secrets, factors, machineClock: ports.machineClock)
        apps = Apps(credentials: ports.credentials, secrets: secrets, now: now)
        catalogs = Catalogs(
            ledger: ledger, reading: ports.reading, directory: directory, secrets: secrets, now: now
        )
        reconciliations = Reconciliations(ledger, directory, secrets, now: now)
        acceptance = LogAcceptance(ledger: ledger, directory: directory, secrets: secrets)
    }
}
