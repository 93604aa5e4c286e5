import CatalogFile
package import Core
import Crypto
import JSON
import Postgres
import SQL

/// An edition whose catalog is needed, either in full or only for some products.
struct WantedEdition {
    let project: ProjectID
    let edition: CatalogEdition
    var products: Set<ProductKey>?

    var place: CatalogPlace {
        edition.digest.map(CatalogPlace.table)
            ?? .event(project, version: edition.version, since: edition.since)
    }

    private var call: Call {
        if let digest = edition.digest { return Statement.findCatalog(.bytea(digest)) }
        return Statement.listEditions(
            .int2(Stream.ofProject(project).shard.number), .text(project.text),
            .int8(edition.version), .int8(Instant.distantFuture.milliseconds), .int8(1))
    }

    /// Returns the cached catalog, or `nil` if it must be read. May then extend the request, so that the same catalog
    /// is not read repeatedly for customers with different products.
    private mutating func look(in cache: CatalogCache) -> KnownCatalog? {
        if let catalog = edition.catalog { return KnownCatalog(catalog: catalog, products: nil) }
        let known = cache[place]
        if let known, known.covers(products) { return known }
        guard let known, let others = known.products else { return nil }
        if others.count > CatalogCache.manyProducts, cache.hasRoom {
            products = nil
        } else if known.weight < cache.share || cache.hasRoom {
            products?.formUnion(others)
        }
        return nil
    }

    /// Returns the catalog in the call's result. Throws unless its bytes have the digest that the event names.
    private func known(_ rows: borrowing Rows) throws(LedgerError) -> KnownCatalog {
        let name = "the catalog \(edition.version) of the project \(project)"
        if rows.count == 0 { throw .unreadable("\(name), which is missing") }
        guard let digest = edition.digest else {
            let found = try CatalogEdition(rows, 0)
            guard (found.version, found.since) == (edition.version, edition.since),
                let catalog = found.catalog
            else {
                throw .unreadable("\(name), which is not in its event")
            }
            return narrowed(catalog)
        }
        let content = rows.bytes(0, 0)
        guard SHA256.digest(content).bytes == digest else {
            throw .unreadable("\(name), which is damaged")
        }
        if let products, let excerpt = CatalogFile.excerpt(of: content, for: products) {
            return KnownCatalog(catalog: excerpt, products: products)
        }
        guard let json = try? JSON.read(content), let catalog = try? CatalogFile.recorded(json)
        else { throw .unreadable("\(name), which is not a catalog") }
        return narrowed(catalog)
    }

    private func narrowed(_ catalog: Catalog) -> KnownCatalog {
        KnownCatalog(
            catalog: products.map(catalog.narrowed) ?? catalog, products: products)
    }

    /// Passes on each catalog, or the reason why it is unreadable. Reads catalogs one after another, so that only a few
    /// large ones are in memory at once.
    static func read(
        _ wanted: [WantedEdition], over connection: inout Connection, _ cache: CatalogCache,
        _ take: (Int, Result<KnownCatalog, LedgerError>) -> Void
    ) throws(LedgerError) {
        var wanted = wanted
        var missing: [Int] = []
        for place in wanted.indices {
            if let known = wanted[place].look(in: cache) {
                take(place, .success(known))
            } else {
                missing.append(place)
            }
        }
        if missing.isEmpty { return }
        try connection.read(missing.map { wanted[$0].call }) { index, rows in
            let one = wanted[missing[index]]
            do throws(LedgerError) {
                let known = try one.known(rows)
                cache.keep(known, at: one.place)
                take(missing[index], .success(known))
            } catch {
                take(missing[index], .failure(error))
            }
        }
    }
}

extension Connection {
    mutating func catalog(
        _ edition: CatalogEdition, of project: ProjectID, _ cache: CatalogCache
    ) throws(LedgerError) -> Catalog {
        try catalog(WantedEdition(project: project, edition: edition), cache)
    }

    fileprivate mutating func catalog(
        _ wanted: WantedEdition, _ cache: CatalogCache
    ) throws(LedgerError) -> Catalog {
        var found = Result<KnownCatalog, LedgerError>.failure(.unreadable("a catalog"))
        try WantedEdition.read([wanted], over: &self, cache) { found = $1 }
        return try found.get().catalog
    }

    /// Returns the current catalogs that are missing from the projects' states.
    mutating func lackedCatalogs(
        of states: some Sequence<(Stream, StreamState)>, _ cache: CatalogCache
    ) throws(LedgerError) -> [(stream: Stream, catalog: Result<Catalog, LedgerError>)] {
        let lacking = states.compactMap { stream, state in
            state.lackedEdition.map {
                (stream, WantedEdition(project: stream.project, edition: $0))
            }
        }
        if lacking.isEmpty { return [] }
        var found: [(stream: Stream, catalog: Result<Catalog, LedgerError>)] = []
        try WantedEdition.read(lacking.map(\.1), over: &self, cache) { place, known in
            found.append((lacking[place].0, known.map(\.catalog)))
        }
        return found
    }

    /// Reads the earlier catalogs that are needed. An unreadable catalog does not affect the others.
    mutating func pastCatalogs(
        for needs: [PastNeed], _ cache: CatalogCache
    ) throws(LedgerError) -> PastCatalogs {
        var wanted: [CatalogPlace: WantedEdition] = [:]
        for need in needs {
            for edition in need.editions {
                var one = WantedEdition(
                    project: need.stream.project, edition: edition, products: need.products)
                let place = one.place
                one.products?.formUnion(wanted[place]?.products ?? [])
                wanted[place] = one
            }
        }
        let list = wanted.values.sorted { $0.edition.version < $1.edition.version }
        var past = PastCatalogs()
        try WantedEdition.read(list, over: &self, cache) { place, found in
            past.found[list[place].place] = found
        }
        return past
    }
}

extension CatalogEdition {
    /// Reads a row of `list_editions`.
    init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        let event = try Event(
            type: EventType.catalogChanged.name, format: rows.int2(row, 2),
            payload: rows.text(row, 1))
        guard case .catalogChanged(let changed) = event else {
            throw .unreadable("an invalid catalog")
        }
        self.init(changed, since: Instant(milliseconds: rows.int8(row, 0)))
    }
}

extension Ledger {
    package func catalog(
        _ edition: CatalogEdition, of project: ProjectID
    ) throws(Fault) -> Catalog {
        if let catalog = edition.catalog { return catalog }
        return try catalog(WantedEdition(project: project, edition: edition))
    }

    /// Returns the edition's catalog, or at least the part that concerns the customer.
    package func catalog(
        _ edition: CatalogEdition, of project: ProjectID, for customer: CustomerState
    ) throws(Fault) -> Catalog {
        if let catalog = edition.catalog { return catalog }
        var wanted = WantedEdition(
            project: project, edition: edition, products: customer.products)
        let known = cache.catalogs[wanted.place]?.products?.count ?? 0
        // A feed that is read from its start needs the same catalog for thousands of events.
        if known > CatalogCache.manyProducts { wanted.products = nil }
        return try catalog(wanted)
    }

    private func catalog(_ wanted: WantedEdition) throws(Fault) -> Catalog {
        if let known = cache.catalogs[wanted.place], known.covers(wanted.products) {
            return known.catalog
        }
        do throws(LedgerError) {
            return try pool.settled { connection throws(LedgerError) in
                try connection.catalog(wanted, cache.catalogs)
            }
        } catch {
            unread.note(.ofProject(wanted.project), error.fault)
            throw error.fault
        }
    }
}
