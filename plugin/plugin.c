/* SPDX-License-Identifier: MIT */
#include "plugin/causal/causal.h"

#include "plugin/model/model.h"
#include "plugin/records/records.h"
#include "plugin/spans/spans.h"

/*
 * The headers of 2.0.4 do not mark the accessors of the plugin's sections as exported: without
 * this, a module built with hidden symbols loads and then seems to hold no plugin at all.
 */
#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop

BT_PLUGIN(lqn);
BT_PLUGIN_DESCRIPTION("Layered queueing networks and critical paths from traces");
BT_PLUGIN_AUTHOR("The lqn authors");
BT_PLUGIN_LICENSE("MIT");
BT_PLUGIN_VERSION(LQN_VERSION_MAJOR, LQN_VERSION_MINOR, LQN_VERSION_PATCH, NULL);

BT_PLUGIN_SOURCE_COMPONENT_CLASS(spans, spans_iter_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(spans,
	"Read spans of OpenTelemetry (OTLP JSON) and Jaeger (JSON exports)");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(spans,
	"See the babeltrace2-source.lqn.spans(7) manual page.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(spans, spans_mip_versions);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(spans, spans_init);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(spans, spans_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(spans, spans_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(spans,
	spans_iter_init);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(spans,
	spans_iter_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(spans,
	spans_iter_seek_beginning, spans_iter_can_seek_beginning);

BT_PLUGIN_FILTER_COMPONENT_CLASS(causal, causal_iter_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(causal,
	"Add a stream of `lqn:` events that tells who waited for whom, and why");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(causal,
	"See the babeltrace2-filter.lqn.causal(7) manual page.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(causal, causal_mip_versions);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(causal, causal_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(causal, causal_input_connected);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(causal, causal_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_QUERY_METHOD(causal, causal_query);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(causal,
	causal_iter_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(causal,
	causal_iter_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(causal,
	causal_iter_seek_beginning, causal_iter_can_seek_beginning);

BT_PLUGIN_SINK_COMPONENT_CLASS(model, model_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(model,
	"Make a layered queueing network and critical paths of `lqn:` events");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(model,
	"See the babeltrace2-sink.lqn.model(7) manual page.");
BT_PLUGIN_SINK_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD(model, model_mip_versions);
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(model, model_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(model, model_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(model, model_graph_is_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS_WITH_ID(auto, records_sink, "records", records_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION_WITH_ID(auto, records_sink,
	"Write what is to be told to source.lqn.records in another process");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP_WITH_ID(auto, records_sink, "See the lqn-parallel(1) manual page.");
BT_PLUGIN_SINK_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_WITH_ID(auto, records_sink,
	records_sink_mip_versions);
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD_WITH_ID(auto, records_sink, records_sink_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD_WITH_ID(auto, records_sink, records_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD_WITH_ID(auto, records_sink,
	records_sink_graph_is_configured);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD_WITH_ID(auto, records_sink, records_sink_finalize);

BT_PLUGIN_SOURCE_COMPONENT_CLASS_WITH_ID(auto, records_source, "records", records_iter_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION_WITH_ID(auto, records_source,
	"Give `lqn:` events, as filter.lqn.causal, of what sink.lqn.records has read in other processes");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP_WITH_ID(auto, records_source, "See the lqn-parallel(1) manual page.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_WITH_ID(auto, records_source,
	records_source_mip_versions);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD_WITH_ID(auto, records_source, records_source_init);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD_WITH_ID(auto, records_source, records_source_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_WITH_ID(auto, records_source,
	records_iter_init);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD_WITH_ID(auto, records_source,
	records_iter_finalize);
