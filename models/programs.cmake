target_sources(shardplan_models PRIVATE
  programs/attention.cpp programs/block_builder.cpp programs/edges.cpp programs/feed_forward.cpp
  programs/moe_dropping.cpp programs/moe_sparse.cpp programs/train_program.cpp)
