"""Alembic's entry: run the migrations on the connection that app.store.sql.db hands over."""

from alembic import context

from app.store.sql.orders import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite cannot alter most columns in place
)
with context.begin_transaction():
    context.run_migrations()
