"""langchain-neo4j: histories of messages, a vector store and its graph. Its graph documents need APOC and stay out."""
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage
from langchain_neo4j import Neo4jChatMessageHistory, Neo4jGraph, Neo4jVector

from shared import *

CONNECTION = {"url": URI, "username": USER, "password": PASSWORD}


class Vectors(Embeddings):
    def embed_documents(self, texts):
        return [vector(text) for text in texts]

    def embed_query(self, text):
        return vector(text)


def history(name):
    return Neo4jChatMessageHistory(session_id=name, window=10, **CONNECTION)


def store(texts):
    documents = [Document(page_content=text, metadata={"scope": "team", "id": text}) for text in texts]
    # The label is one of Ebb's, and so is the name of its property.
    return Neo4jVector.from_documents(documents, Vectors(), node_label="Memory", text_node_property="content",
                                      index_name="chunks", ids=texts, **CONNECTION)


def opened():
    return Neo4jVector.from_existing_index(Vectors(), index_name="chunks", node_label="Memory", text_node_property="content", **CONNECTION)


def answers():
    found = []
    for name in ("a", "b"):
        messages = [f"{message.type}: {message.content}" for message in history(name).messages]
        PROMPTS.append("\n".join(messages))
        found.append(messages)
    vectors = opened()
    for question in QUESTIONS:
        documents = vectors.similarity_search(question, k=3)
        PROMPTS.extend(document.model_dump_json() for document in documents)
        found.append([document.page_content for document in documents])
    graph = Neo4jGraph(refresh_schema=False, **CONNECTION)
    found.append(graph.query("MATCH (s:Session)-[:LAST_MESSAGE]->(m) RETURN s.id AS id, m.content AS last ORDER BY id"))
    return found


def write():
    for name in ("a", "b"):
        messages = history(name)
        for number, text in enumerate(FIRST):
            messages.add_message((HumanMessage if number % 2 == 0 else AIMessage)(content=text))
    store(FIRST)
    return answers()


def search():
    return answers()


def again():
    for text in SECOND:
        history("a").add_message(HumanMessage(content=text))
    history("b").clear()
    history("c").add_message(HumanMessage(content="hello"))
    history("c").clear(delete_session_node=True)
    store(SECOND)
    return answers()


main(write, search, again)
