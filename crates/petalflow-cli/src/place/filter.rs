//! The conditions of a list of threads.

use petalflow::checkpoint::{
    AttributeCondition, ThreadFilter, ThreadOrder, ThreadQuery, ThreadStatus,
};

/// Which threads.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FilterArgs {
    /// Only threads whose names begin with this
    #[arg(long, default_value = "")]
    prefix: String,

    /// Only threads with one of these statuses
    #[arg(long, value_enum)]
    status: Vec<Status>,

    /// Only threads of one of these graphs
    #[arg(long)]
    graph: Vec<String>,

    /// Only threads with all of these labels
    #[arg(long, value_name = "NAME:VALUE", value_parser = label)]
    label: Vec<(String, String)>,

    /// Only threads with one of these labels
    #[arg(long, value_name = "NAME:VALUE", value_parser = label)]
    any_label: Vec<(String, String)>,

    /// Only threads with none of these labels
    #[arg(long, value_name = "NAME:VALUE", value_parser = label)]
    not_label: Vec<(String, String)>,

    /// Only threads whose search attributes meet all of these conditions, such as `amount>100`: with =, !=, <, <=, >, >=,
    /// ^= (begins with) or *= (contains)
    #[arg(long = "where", value_name = "CONDITION")]
    attributes: Vec<AttributeCondition>,

    /// Only threads that were created at this time or later, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    created_from: Option<u64>,

    /// Only threads that were created before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    created_before: Option<u64>,

    /// Only threads that changed last at this time or later
    #[arg(long, value_name = "TIME", value_parser = moment)]
    updated_from: Option<u64>,

    /// Only threads that changed last before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    updated_before: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Status {
    Running,
    Waiting,
    Sleeping,
    Stopped,
    Failed,
    Finished,
    Held,
}

impl From<Status> for ThreadStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Running => ThreadStatus::Running,
            Status::Waiting => ThreadStatus::Waiting,
            Status::Sleeping => ThreadStatus::Sleeping,
            Status::Stopped => ThreadStatus::Stopped,
            Status::Failed => ThreadStatus::Failed,
            Status::Finished => ThreadStatus::Finished,
            Status::Held => ThreadStatus::Held,
        }
    }
}

/// A label: `NAME:VALUE`.
pub(crate) fn label(text: &str) -> Result<(String, String), String> {
    let label = text.split_once(':').ok_or("write NAME:VALUE")?;
    Ok((label.0.into(), label.1.into()))
}

/// A time in milliseconds since 1970.
fn moment(text: &str) -> Result<u64, String> {
    let time = humantime::parse_rfc3339_weak(text).map_err(|error| error.to_string())?;
    let since = time.duration_since(std::time::SystemTime::UNIX_EPOCH);
    let since = since.map_err(|_| "the time is before 1970")?;
    u64::try_from(since.as_millis()).map_err(|error| error.to_string())
}

/// The parts of a query that refers to them.
pub(super) struct Filters<'f> {
    args: &'f FilterArgs,
    statuses: Vec<ThreadFilter<'f>>,
    graphs: Vec<ThreadFilter<'f>>,
    any_labels: Vec<ThreadFilter<'f>>,
    not_labels: Vec<ThreadFilter<'f>>,
}

impl FilterArgs {
    /// Threads whose names begin with this.
    pub(super) fn with_prefix(prefix: &str) -> Self {
        FilterArgs {
            prefix: prefix.into(),
            ..FilterArgs::default()
        }
    }

    /// Whether all threads meet the conditions.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs().is_empty()
    }

    pub(super) fn filters(&self) -> Filters<'_> {
        let statuses = self.status.iter().copied();
        Filters {
            args: self,
            statuses: statuses.map(|it| ThreadFilter::Status(it.into())).collect(),
            graphs: self.graph.iter().map(|it| ThreadFilter::Flow(it)).collect(),
            any_labels: self.any_label.iter().map(filter).collect(),
            not_labels: self.not_label.iter().map(filter).collect(),
        }
    }

    /// The names of the search attributes in conditions.
    pub(super) fn attributes(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(AttributeCondition::name)
    }

    /// The conditions as the query of an address of a server.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        if !self.prefix.is_empty() {
            pairs.push(("prefix", self.prefix.clone()));
        }
        for status in &self.status {
            pairs.push(("status", ThreadStatus::from(*status).as_str().into()));
        }
        pairs.extend(self.graph.iter().map(|graph| ("flow", graph.clone())));
        let labels = [
            ("label", &self.label),
            ("any_label", &self.any_label),
            ("not_label", &self.not_label),
        ];
        for (parameter, labels) in labels {
            let labels = labels.iter();
            pairs.extend(labels.map(|(name, value)| (parameter, format!("{name}:{value}"))));
        }
        let attributes = self.attributes.iter();
        pairs.extend(attributes.map(|condition| ("where", condition.to_string())));
        let times = [
            ("created_from_ms", self.created_from),
            ("created_before_ms", self.created_before),
            ("updated_from_ms", self.updated_from),
            ("updated_before_ms", self.updated_before),
        ];
        let times = times.into_iter();
        pairs.extend(times.filter_map(|(name, ms)| Some((name, ms?.to_string()))));
        pairs
    }
}

fn filter((name, value): &(String, String)) -> ThreadFilter<'_> {
    ThreadFilter::Label(name, value)
}

fn condition(condition: &AttributeCondition) -> ThreadFilter<'_> {
    ThreadFilter::Attribute(condition.name(), condition.test())
}

impl<'f> Filters<'f> {
    /// The conditions that each thread meets.
    pub(super) fn all<'a>(&'a self) -> Vec<ThreadFilter<'a>>
    where
        'f: 'a,
    {
        let some = [&self.statuses, &self.graphs, &self.any_labels].into_iter();
        let some = some.filter(|filters| !filters.is_empty());
        some.map(|filters| ThreadFilter::Any(filters))
            .chain(self.args.label.iter().map(filter))
            .chain(self.not_labels.iter().map(ThreadFilter::Not))
            .chain(self.args.attributes.iter().map(condition))
            .collect()
    }

    /// The query. `all` is of [`all`](Self::all).
    pub(super) fn query<'a>(
        &'a self,
        all: &'a [ThreadFilter<'a>],
        order: ThreadOrder,
    ) -> ThreadQuery<'a> {
        let args = self.args;
        ThreadQuery {
            prefix: &args.prefix,
            filter: Some(ThreadFilter::All(all)).filter(|_| !all.is_empty()),
            created_from_ms: args.created_from,
            created_before_ms: args.created_before,
            updated_from_ms: args.updated_from,
            updated_before_ms: args.updated_before,
            order,
            ..ThreadQuery::default()
        }
    }
}
