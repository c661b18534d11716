//! Which threads a request asks for.

use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use petalflow::checkpoint::{
    AttributeCondition, ThreadFilter, ThreadOrder, ThreadQuery, ThreadStatus,
};

use super::attributes;
use crate::access::Access;
use crate::refusal::Refusal;
use crate::server::{Inner, prefix};

/// The conditions of a request, the order, and the page. `flow`, `status` and labels can be given several times.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    /// Threads of one of these flows: those that the server has started for it.
    pub(crate) flows: Vec<String>,
    /// Threads with one of these statuses.
    statuses: Vec<ThreadStatus>,
    /// Threads with all of these labels, one of these, and none of these.
    labels: Vec<(String, String)>,
    any_labels: Vec<(String, String)>,
    not_labels: Vec<(String, String)>,
    /// Threads whose search attributes meet all of these.
    attributes: Vec<AttributeCondition>,
    /// What the ids begin with.
    prefix: String,
    created_from_ms: Option<u64>,
    created_before_ms: Option<u64>,
    updated_from_ms: Option<u64>,
    updated_before_ms: Option<u64>,
    pub(crate) order: ThreadOrder,
    after: Option<String>,
    pub(crate) limit: Option<usize>,
}

/// The parameters of a query. The last five are about the page.
const KNOWN: &str = "`flow`, `status`, `label`, `any_label`, `not_label`, `where`, `prefix`, `created_from_ms`, `created_before_ms`, \
    `updated_from_ms`, `updated_before_ms`, `order`, `after` and `limit`";

impl Conditions {
    pub(crate) fn read(uri: &Uri) -> Result<Self, Refusal> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri);
        let Query(pairs) = pairs
            .map_err(|error| wrong(format!("the query cannot be read: {}", error.body_text())))?;
        let mut conditions = Conditions::default();
        for (name, value) in pairs {
            conditions.set(&name, value)?;
        }
        Ok(conditions)
    }

    /// The conditions of the query of an address.
    pub(crate) fn of_query(query: &str) -> Result<Self, Refusal> {
        let uri = format!("/?{query}").parse();
        let uri: Uri = uri.map_err(|error| wrong(format!("the query cannot be read: {error}")))?;
        Self::read(&uri)
    }

    /// Whether all threads meet the conditions.
    pub(crate) fn is_empty(&self) -> bool {
        let times = [
            self.created_from_ms,
            self.created_before_ms,
            self.updated_from_ms,
            self.updated_before_ms,
        ];
        let labels = [&self.labels, &self.any_labels, &self.not_labels];
        self.flows.is_empty()
            && self.statuses.is_empty()
            && labels.into_iter().all(Vec::is_empty)
            && self.attributes.is_empty()
            && self.prefix.is_empty()
            && times.iter().all(Option::is_none)
    }

    /// Whether only part of these threads is asked for, or an order.
    pub(crate) fn has_page(&self) -> bool {
        self.after.is_some() || self.limit.is_some() || self.order != ThreadOrder::Id
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), Refusal> {
        match name {
            // A form sends a field without a choice too.
            "flow" if value.is_empty() => {}
            "flow" => self.flows.push(value),
            "status" => self.statuses.push(status(&value)?),
            "label" => self.labels.push(label(&value)?),
            "any_label" => self.any_labels.push(label(&value)?),
            "not_label" => self.not_labels.push(label(&value)?),
            "where" => self.attributes.push(attribute(&value)?),
            "prefix" => self.prefix = value,
            "created_from_ms" => self.created_from_ms = Some(number(name, &value)?),
            "created_before_ms" => self.created_before_ms = Some(number(name, &value)?),
            "updated_from_ms" => self.updated_from_ms = Some(number(name, &value)?),
            "updated_before_ms" => self.updated_before_ms = Some(number(name, &value)?),
            "order" => self.order = order(&value)?,
            "after" => self.after = Some(value),
            "limit" => self.limit = Some(number(name, &value)?),
            _ => {
                return Err(wrong(format!(
                    "the query cannot be read: unknown field `{name}`, expected one of {KNOWN}"
                )));
            }
        }
        Ok(())
    }

    /// The place after which a page begins: in an order by time, the time and the id.
    fn place(&self) -> Result<(Option<&str>, u64), Refusal> {
        let Some(after) = self.after.as_deref() else {
            return Ok((None, 0));
        };
        if self.order == ThreadOrder::Id {
            return Ok((Some(after), 0));
        }
        let place = after.split_once(':');
        let place = place.and_then(|(time, id)| Some((Some(id), time.parse().ok()?)));
        place.ok_or_else(|| {
            wrong(format!(
                "`after={after}` is no place in this order: use `next` of the page before"
            ))
        })
    }
}

/// The parts of a condition that a query refers to.
pub(crate) struct Filters<'a> {
    prefix: String,
    flows: Vec<ThreadFilter<'a>>,
    statuses: Vec<ThreadFilter<'a>>,
    any_labels: Vec<ThreadFilter<'a>>,
    not_labels: Vec<ThreadFilter<'a>>,
}

pub(super) fn filter((name, value): &(String, String)) -> ThreadFilter<'_> {
    ThreadFilter::Label(name, value)
}

fn condition(condition: &AttributeCondition) -> ThreadFilter<'_> {
    ThreadFilter::Attribute(condition.name(), condition.test())
}

impl<'a> Filters<'a> {
    /// `prefixes` is of [`flow_ids`].
    pub(crate) fn new(conditions: &'a Conditions, prefixes: &'a [FlowIds]) -> Self {
        // The ids of a flow begin with its name, also while its first run is in progress.
        let (prefix, flows) = match prefixes {
            [FlowIds::Prefix(begins)] if conditions.prefix.starts_with(begins) => {
                (conditions.prefix.clone(), Vec::new())
            }
            [FlowIds::Prefix(begins)] => (format!("{begins}{}", conditions.prefix), Vec::new()),
            several => (
                conditions.prefix.clone(),
                several.iter().map(FlowIds::filter).collect(),
            ),
        };
        let statuses = conditions.statuses.iter().copied();
        Filters {
            prefix,
            flows,
            statuses: statuses.map(ThreadFilter::Status).collect(),
            any_labels: conditions.any_labels.iter().map(filter).collect(),
            not_labels: conditions.not_labels.iter().map(filter).collect(),
        }
    }

    /// The conditions that each thread meets.
    pub(crate) fn all<'b>(&'b self, conditions: &'b Conditions) -> Vec<ThreadFilter<'b>> {
        let some = [&self.flows, &self.statuses, &self.any_labels].into_iter();
        let some = some.filter(|filters| !filters.is_empty());
        some.map(|filters| ThreadFilter::Any(filters))
            .chain(conditions.labels.iter().map(filter))
            .chain(self.not_labels.iter().map(ThreadFilter::Not))
            .chain(conditions.attributes.iter().map(condition))
            .collect()
    }

    /// The query. `all` is of [`all`](Self::all).
    pub(crate) fn query<'b>(
        &'b self,
        conditions: &'b Conditions,
        all: &'b [ThreadFilter<'b>],
        access: &'b Access,
    ) -> Result<ThreadQuery<'b>, Refusal> {
        let (after, after_ms) = conditions.place()?;
        Ok(ThreadQuery {
            prefix: &self.prefix,
            after,
            after_ms,
            order: conditions.order,
            filter: Some(ThreadFilter::All(all)).filter(|_| !all.is_empty()),
            label: access.required(),
            created_from_ms: conditions.created_from_ms,
            created_before_ms: conditions.created_before_ms,
            updated_from_ms: conditions.updated_from_ms,
            updated_before_ms: conditions.updated_before_ms,
            ..ThreadQuery::default()
        })
    }
}

/// How the threads of a flow are known.
pub(crate) enum FlowIds {
    /// By what their ids begin with.
    Prefix(String),
    /// By the name of their flow: its program is not here.
    Name(String),
}

impl FlowIds {
    pub(super) fn filter(&self) -> ThreadFilter<'_> {
        match self {
            FlowIds::Prefix(prefix) => ThreadFilter::Prefix(prefix),
            FlowIds::Name(name) => ThreadFilter::Flow(name),
        }
    }
}

/// How the threads of these flows are known.
pub(crate) fn flow_ids(server: &Inner, flows: &[String]) -> Result<Vec<FlowIds>, Refusal> {
    let ids = |flow: &String| {
        if server.is_stored(flow) {
            return Ok(FlowIds::Name(flow.clone()));
        }
        Ok(FlowIds::Prefix(prefix(server.shown_flow(flow)?.facts())))
    };
    flows.iter().map(ids).collect()
}

/// How the threads of the flows of these conditions are known. Fails if no thread of them can meet a condition on an attribute.
pub(crate) fn checked_flow_ids(
    server: &Inner,
    conditions: &Conditions,
) -> Result<Vec<FlowIds>, Refusal> {
    let ids = flow_ids(server, &conditions.flows)?;
    for condition in &conditions.attributes {
        if let Some(known) = server.attributes(&conditions.flows) {
            attributes::check(&known, condition).map_err(wrong)?;
        }
    }
    Ok(ids)
}

fn attribute(text: &str) -> Result<AttributeCondition, Refusal> {
    let condition: Result<AttributeCondition, _> = text.parse();
    condition.map_err(|error| wrong(error.to_string()))
}

fn status(text: &str) -> Result<ThreadStatus, Refusal> {
    ThreadStatus::named(text).ok_or_else(|| {
        let known = "`running`, `waiting`, `sleeping`, `stopped`, `held`, `failed` and `finished`";
        wrong(format!("there is no status `{text}`: there are {known}"))
    })
}

fn order(text: &str) -> Result<ThreadOrder, Refusal> {
    ThreadOrder::named(text).ok_or_else(|| {
        let known =
            "`id`, `created-newest`, `created-oldest`, `updated-newest` and `updated-oldest`";
        wrong(format!("there is no order `{text}`: there are {known}"))
    })
}

pub(super) fn label(text: &str) -> Result<(String, String), Refusal> {
    let (name, value) = text.split_once(':').ok_or_else(|| {
        wrong(format!(
            "the label `{text}` has no value: write `name:value`"
        ))
    })?;
    Ok((name.into(), value.into()))
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, Refusal> {
    let parsed = text.parse();
    parsed.map_err(|_| {
        wrong(format!(
            "the query cannot be read: `{name}={text}` is not a number from 0"
        ))
    })
}

pub(crate) fn wrong(text: String) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, text)
}
