# frozen_string_literal: true

require "net/smtp"

module Post
  LIMIT = 10

  class Error < StandardError; end

  # def hidden; end
  class Mailer < Base
    include Enumerable
    attr_reader :queue

    def initialize(host, port: 25, **options)
      @host = host
    end

    def each(&block) = @queue.each(&block)

    def deliver!(message,
                 retries: 3)
      text = <<~TEXT
        def in_heredoc
        class InHeredoc
      TEXT
      if retries > 0
        send(text)
      end
    end

    def self.open(host)
      new(host)
    end

    class << self
      def default = @default ||= open("localhost")
    end

    private

    def connected?
      !@socket.nil?
    end
  end

  module_function

  def address(name, domain)
    "#{name}@#{domain}"
  end
end

class Post::Letter
  def to_s; "letter"; end
end

Point = Struct.new(:x, :y) do
  def length = Math.sqrt(x * x + y * y)
end

def main
  Post::Mailer.open("localhost")
end
