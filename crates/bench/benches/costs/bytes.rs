//! Work that is proportional to bytes: counting, digests, opening files, rendering.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use conspectus::core::count::{Estimator, TokenCounter};
use conspectus::core::id::{Handle, Ident};
use conspectus::core::patch::{Patch, PatchCause, Site};
use conspectus::core::projection::Piece;
use conspectus::{Document, OpenOptions, Projection};
use conspectus_bench::{Bench, Shape, claude_code, openai};
use criterion::{BatchSize, Criterion, Throughput};

pub(crate) fn texts(c: &mut Criterion) {
    let bench = Bench::new(10_000, 400);
    let conversation = bench.conversation();
    let text: String = conversation
        .views()
        .iter()
        .map(|v| conversation.json_of(v.handle))
        .collect();
    let chinese: String = "把会话保持在窗口之内，不丢失线索。".repeat(20_000);
    let mut group = c.benchmark_group("text");
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(2));
    for (name, text) in [("english and code", &text), ("chinese", &chinese)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("estimate/{name}"), |b| {
            b.iter(|| Estimator.text(black_box(text)))
        });
    }
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("ident", |b| b.iter(|| Ident::of(black_box(&text))));
    group.finish();
}

pub(crate) fn files(c: &mut Criterion) {
    let mut group = c.benchmark_group("file");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(4));
    let list = openai(Shape {
        messages: 12_500,
        mean_bytes: 600,
    });
    let session = claude_code(Shape {
        messages: 6_800,
        mean_bytes: 600,
    });
    for (name, file) in [("openai", &list), ("claude code", &session)] {
        group.throughput(Throughput::Bytes(file.len() as u64));
        group.bench_function(format!("open/{name}"), |b| {
            b.iter_batched(
                || file.clone().into_bytes(),
                |bytes| Document::open(bytes, &OpenOptions::default()),
                BatchSize::LargeInput,
            );
        });
    }
    group.throughput(Throughput::Bytes(list.len() as u64));
    let document =
        Document::open(list.into_bytes(), &OpenOptions::default()).expect("it is well formed");
    let projection = one_edit(&document);
    group.bench_function("render with one edit", |b| {
        b.iter(|| document.render(&[(0, &projection)], &Default::default()));
    });
    group.finish();
}

/// Everything as it is but the middle of one result.
fn one_edit(document: &Document) -> Projection {
    let cut = Patch::Cut {
        part: 0,
        site: Site::Text,
        range: 100..400,
        marker: "…".into(),
        cause: PatchCause::Oversized,
    };
    let views = document.conversations()[0].views();
    let patch: Arc<[Patch]> = Arc::from([cut]);
    let result = Handle(39);
    let piece = |handle| match handle {
        edited if edited == result => Piece::Edit(edited, patch.clone()),
        kept => Piece::Keep(kept),
    };
    let tail: Vec<_> = views.iter().map(|view| piece(view.handle)).collect();
    Projection {
        tail: Arc::new(tail),
        ..Projection::default()
    }
}
