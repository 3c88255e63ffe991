//! Batches through a provider's client: its options, its parser, and its key, which no error shows.

use async_trait::async_trait;
use serde_json::Value;
use uuid::Uuid;

use super::super::batches::{BatchEntries, BatchProtocol, BatchRequest};
use super::super::{
    BatchAnswer, BatchAnswers, BatchApi, BatchEnd, BatchStatus, CompletionRequest, CompletionResponse, Delta,
    EndedBatch, GenerateError, GenerateErrorKind, LostBatch, PreparedBatch, Result,
};
use super::received::ReceivedAnswer;
use super::text::clip;
use super::{ProviderClient, finish};

/// How large a batch may be. Google takes 20 MB.
const MAX_BATCH_BYTES: usize = 16 << 20;

pub(super) struct ClientBatches<'a> {
    pub client: &'a ProviderClient,
    pub protocol: &'static dyn BatchProtocol,
}

struct ClientAnswers<'a> {
    batches: &'a ClientBatches<'a>,
    entries: BatchEntries<'a>,
    expected: std::vec::IntoIter<Uuid>,
}

#[async_trait]
impl BatchApi for ClientBatches<'_> {
    fn prepare(&self, requests: Vec<(Uuid, CompletionRequest)>) -> Result<PreparedBatch> {
        let Some((_, first)) = requests.first() else {
            return Err(GenerateError::new(GenerateErrorKind::BadRequest, "the batch has no requests"));
        };
        // A batch is kept as JSON until it is sent, where pictures would take too much memory.
        if requests.iter().any(|(_, request)| !request.prompt.pictures.is_empty()) {
            let message = "a request with pictures cannot be sent in a batch";
            return Err(GenerateError::new(GenerateErrorKind::BadRequest, message));
        }
        let (options, notes) = self.client.options(first)?;
        let (model, sent) = (first.model.clone(), options.sent());
        let (mut written, mut bytes) = (Vec::new(), 0);
        for (id, request) in requests {
            let body = self.body(&request)?;
            bytes += body.len();
            if bytes > MAX_BATCH_BYTES && !written.is_empty() {
                break;
            }
            let mut body: Value = serde_json::from_slice(&body).map_err(|error| unwritable(&error))?;
            // Nothing is streamed from a batch.
            if let Some(fields) = body.as_object_mut() {
                fields.shift_remove("stream");
            }
            written.push(BatchRequest { id, body });
        }
        Ok(PreparedBatch { model, requests: written, sent, notes })
    }

    async fn submit(&self, key: Uuid, batch: PreparedBatch) -> Result<String> {
        self.protocol.submit(&self.client.transport, key, batch).await.map_err(|error| self.scrub(error))
    }

    async fn find(&self, lost: &LostBatch) -> Result<Option<String>> {
        self.protocol.find(&self.client.transport, lost).await.map_err(|error| self.scrub(error))
    }

    fn finds_by_guess(&self) -> bool {
        self.protocol.finds_by_guess()
    }

    async fn status(&self, id: &str) -> Result<BatchStatus> {
        let status = self.protocol.status(&self.client.transport, id).await;
        let status = status.map_err(|error| self.scrub(error))?;
        Ok(match status {
            BatchStatus::Ended(EndedBatch { end: BatchEnd::Failed(error), source }) => {
                BatchStatus::Ended(EndedBatch { end: BatchEnd::Failed(Box::new(self.scrub(*error))), source })
            }
            status => status,
        })
    }

    async fn answers(&self, ended: EndedBatch, requests: Vec<Uuid>) -> Result<Box<dyn BatchAnswers + '_>> {
        let entries = BatchEntries::new(&self.client.transport, ended.source);
        Ok(Box::new(ClientAnswers { batches: self, entries, expected: requests.into_iter() }))
    }

    async fn cancel(&self, id: &str) -> Result<()> {
        self.protocol.cancel(&self.client.transport, id).await.map_err(|error| self.scrub(error))
    }
}

#[async_trait]
impl BatchAnswers for ClientAnswers<'_> {
    async fn next(&mut self) -> Result<Option<BatchAnswer>> {
        let batches = self.batches;
        while let Some(entry) = self.entries.next().await.map_err(|error| batches.scrub(error))? {
            let Some(entry) = batches.protocol.entry(entry, self.expected.next()) else { continue };
            let result = entry.document.map_err(|error| batches.scrub(error));
            let result = result.and_then(|document| batches.read(&document));
            return Ok(Some(BatchAnswer { request: entry.request, result }));
        }
        Ok(None)
    }
}

impl ClientBatches<'_> {
    fn body(&self, request: &CompletionRequest) -> Result<Vec<u8>> {
        let (mut options, _) = self.client.options(request)?;
        options.background = false;
        self.client.protocol.body(request, &options).map_err(|error| unwritable(&error))
    }

    /// Reads the document that answers a request.
    fn read(&self, document: &Value) -> Result<CompletionResponse> {
        let mut ignore = |_: Delta<'_>| {};
        let mut received = ReceivedAnswer::new(&mut ignore, self.client.limits.max_bytes, false);
        let mut parser = self.client.protocol.parser();
        let result = parser.on_document(document.to_string(), &mut received);
        let result = result.and_then(|()| finish(parser.as_ref(), &received));
        let (usage, began) = (received.total_usage(), received.began());
        let response = CompletionResponse { text: received.text, usage, ..CompletionResponse::default() };
        match result {
            Ok(()) => Ok(response),
            Err(error) => Err(GenerateError { began, partial: Box::new(response), ..self.scrub(error) }),
        }
    }

    /// Names the provider in an error, and removes the key from it.
    fn scrub(&self, error: GenerateError) -> GenerateError {
        let said = clip(&self.client.scrub(&error.message_with_status()), 800);
        GenerateError { message: format!("{}: {said}", self.client.protocol.name()), ..error }
    }
}

fn unwritable(error: &serde_json::Error) -> GenerateError {
    GenerateError::new(GenerateErrorKind::BadRequest, format!("the request cannot be written: {error}"))
}
